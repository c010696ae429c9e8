"""Kernel names from mangled to readable."""

import pytest

from tileviz.ui.parts.kernel_names import LONGEST, one, readable, split_picked

SDPA_FLASH = (
    "_ZN13pytorch_flash16flash_fwd_kernelI23Flash_fwd_kernel_traitsILi128ELi128ELi64ELi4ELb0ELb0EN7cutlass6half_tE19Flash_kernel_traits"
    "ILi128ELi128ELi64ELi4ES3_EELb0ELb0ELb0ELb0ELb1ELb1ELb0ELb0EEEvNS_16Flash_fwd_paramsE"
)
SOFTMAX = (
    "_ZN2at6native43_GLOBAL__N__b6de9c8c_10_SoftMax_cu_9f978f6322cunn_SoftMaxForwardRegIN3c104HalfEfS4_NS1_22SoftMaxForwardEpilogueElLi8EEE"
    "vPT1_PKT_T3_"
)
ADD = "at::native::vectorized_elementwise_kernel<CUDAFunctor_add>"
WRITTEN = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>>(int, float)"


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIfEEEE", ADD),
        (SDPA_FLASH, "pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits>"),
        (SOFTMAX, "at::native::cunn_SoftMaxForwardReg<Half>"),
        (WRITTEN, ADD),
        ("_Z40fmha_cutlassF_f16_aligned_64x128_rf_sm80N22PyTorchMemEffAttentionE", "fmha_cutlassF_f16_aligned_64x128_rf_sm80"),
        ("nvjet_sm90_hsh_256x128_64x4_1x2_h_bz_coopA_NNT", "nvjet_sm90_hsh_256x128_64x4_1x2_h_bz_coopA_NNT"),
        ("gemm_kernel(int, float)", "gemm_kernel"),
        ("_ZN", "_ZN"),
        ("", ""),
    ],
)  # fmt: skip
def test_a_name_is_opened_and_cut_to_what_it_is_about(name, wanted):
    assert one(name) == wanted


def test_a_generated_name_loses_its_noise_and_fits():
    long = "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x128_4x1x1_cga1x1x1_kernel0_0"
    assert one(long).startswith("cudnn_sdpa_sm90_flash_fprop_wgmma_f16") and len(one(long)) <= LONGEST
    assert len(one("x" * 500)) == LONGEST


def test_a_long_chain_names_the_first_and_counts_the_rest():
    assert readable(" + ".join("abcde")) == "a + b + c + 2 more"


def test_the_config_that_was_picked_is_apart_from_the_name():
    words = "block_M=128: the fastest of 3 right configs of 4"
    assert split_picked(f"gemm ({words})") == ("gemm", words)
    assert split_picked("void f<int>(int)") == ("void f<int>(int)", "")
