#if defined(_MSC_VER) && !defined(__clang__) && _MSC_VER < 1940
#define _tl_orig_alignas alignas
#define alignas(N) _tl_orig_alignas((N) <= 64 ? (N) : 64)
#include <cuda.h>
#undef alignas
#define alignas _tl_orig_alignas
#endif
#include <tl_templates/cuda/instruction/tcgen05mma.h>
#include <tl_templates/cuda/tcgen_05.h>
#include <tl_templates/cuda/intrin.h>
#include <tl_templates/cuda/barrier.h>
#include <tl_templates/cuda/copy_sm90.h>
#include <tl_templates/cuda/copy_sm100.h>
#include <tl_templates/cuda/reduce.h>
#include <tl_templates/cuda/scan.h>
#include <tl_templates/cuda/ldsm.h>
#include <tl_templates/cuda/threadblock_swizzle.h>
#include <tl_templates/cuda/debug.h>
#ifdef ENABLE_BF16
#include <tl_templates/cuda/cuda_bf16_fallbacks.cuh>
#endif

extern "C" __global__ void main_kernel(__grid_constant__ const CUtensorMap A_desc, __grid_constant__ const CUtensorMap B_desc, __grid_constant__ const CUtensorMap C_desc);
extern "C" __global__ void __launch_bounds__(256, 1) main_kernel(__grid_constant__ const CUtensorMap A_desc, __grid_constant__ const CUtensorMap B_desc, __grid_constant__ const CUtensorMap C_desc) {
  extern __shared__ __align__(1024) uchar buf_dyn_shmem[];
  void* As = ((void*)((char*)buf_dyn_shmem + 0));
  void* Cs = ((void*)((char*)buf_dyn_shmem + 0));
  void* Bs = ((void*)((char*)buf_dyn_shmem + 32768));
  __shared__ __align__(16) uint64_t mb_mem[2];
  auto mb = reinterpret_cast<Barrier*>(mb_mem);
  __shared__ __align__(16) uint64_t mbarrier_mem[4];
  auto mbarrier = reinterpret_cast<Barrier*>(mbarrier_mem);
  __shared__ __align__(16) uint Ct[1];
  float Cl[128];
  if (tl::tl_shuffle_elect<0>()) {
    tl::prefetch_tma_descriptor(A_desc);
    tl::prefetch_tma_descriptor(B_desc);
    tl::prefetch_tma_descriptor(C_desc);
  }
  if (tl::tl_shuffle_elect<0>()) {
    mb[0].init(1);
    mb[1].init(1);
    mbarrier[0].init(1);
    mbarrier[1].init(1);
    mbarrier[2].init(128);
    mbarrier[3].init(128);
  }
  tl::fence_barrier_init();
  tl::tcgen05_before_thread_sync();
  __syncthreads();
  tl::tcgen05_after_thread_sync();
  if ((((int)threadIdx.x) >> 5) == 0) {
    tl::tmem_allocate((&(Ct[0])), 128);
  }
  tl::tcgen05_before_thread_sync();
  __syncthreads();
  tl::tcgen05_after_thread_sync();
  if (((int)threadIdx.x) < 128) {
    tl::warpgroup_reg_dealloc<24>();
    for (int k = 0; k < 4; ++k) {
      mbarrier[((k & 1) + 2)].wait(((k >> 1) ^ 1));
      if (tl::tl_shuffle_elect<128>()) {
        mbarrier[(k & 1)].expect_transaction(16384);
        tl::tma_load(A_desc, mbarrier[(k & 1)], (&(((bfloat16_t*)As)[((k & 1) * 8192)])), (k * 64), (((int)blockIdx.y) * 128));
        mbarrier[(k & 1)].arrive_and_expect_tx(16384);
        tl::tma_load(B_desc, mbarrier[(k & 1)], (&(((bfloat16_t*)Bs)[((k & 1) * 8192)])), (k * 64), (((int)blockIdx.x) * 128));
      }
    }
  } else {
    tl::warpgroup_reg_alloc<240>();
    for (int k_1 = 0; k_1 < 4; ++k_1) {
      mbarrier[(k_1 & 1)].wait((k_1 >> 1));
      tl::tcgen05_after_thread_sync();
      {
        tl::Tcgen05SMemDescriptor desc_a;
        tl::Tcgen05SMemDescriptor desc_b;
        if ((((int)threadIdx.x) >> 5) == 4) {
          tl::initialize_tcgen05_descriptor(desc_a, (&(((bfloat16_t*)As)[0])), 1, 64, 0, 0, 2);
          tl::increase_descriptor_offset<int>(desc_a, ((k_1 & 1) * 16384));
          tl::initialize_tcgen05_descriptor(desc_b, (&(((bfloat16_t*)Bs)[0])), 1, 64, 0, 0, 2);
          tl::increase_descriptor_offset<int>(desc_b, ((k_1 & 1) * 16384));
          tl::fence_proxy_async();
          #pragma unroll
          for (int ki = 0; ki < 4; ++ki) {
            tl::tcgen05mma_ss<tl::DataType::kBFloat16, false>(uint64_t(desc_a + (ki * 32)), uint64_t(desc_b + (ki * 32)), (*reinterpret_cast<uint32_t*>(Ct)) + 0, ((0 < ki) ? 1 : ((k_1 == 0) ? 0 : 1)), static_cast<uint32_t>(136316048), 0, 0, 0, 0);
          }
          tl::tcgen05_mma_arrive((&(mb[(k_1 & 1)])));
        }
      }
      tl::tcgen05_before_thread_sync();
      mbarrier[((k_1 & 1) + 2)].arrive();
      mb[(k_1 & 1)].wait((k_1 >> 1));
    }
    tl::tcgen05_ld_32dp32bNx<128, false>(Ct[0], 0, (&(Cl[0])));
    tl::tcgen05_before_thread_sync();
    tl::__sync_thread_partial(3, 128);
    tl::tcgen05_after_thread_sync();
    #pragma unroll
    for (int i = 0; i < 16; ++i) {
      bfloat16_t Cs_local_cast[8];
      for (int vec = 0; vec < 2; ++vec) {
        uint2 __1;
        float4 v_ = *(float4*)(Cl + ((i * 8) + (vec * 4)));
        (reinterpret_cast<__nv_bfloat162*>(&__1))[0] = __float22bfloat162_rn(((float2*)(&v_))[0]);
        (reinterpret_cast<__nv_bfloat162*>(&__1))[1] = __float22bfloat162_rn(((float2*)(&v_))[1]);
        *(uint2*)(Cs_local_cast + (vec * 4)) = __1;
      }
      *(uint4*)(((bfloat16_t*)Cs) + (((((((i >> 3) * 8192) + (((int)threadIdx.x) * 64)) + (((((i & 7) >> 2) + ((((int)threadIdx.x) & 7) >> 2)) & 1) * 32)) + (((((i & 3) >> 1) + ((((int)threadIdx.x) & 3) >> 1)) & 1) * 16)) + ((((i & 1) + (((int)threadIdx.x) & 1)) & 1) * 8)) - 8192)) = *(uint4*)(Cs_local_cast + 0);
    }
    tl::tcgen05_before_thread_sync();
    tl::__sync_thread_partial(3, 128);
    tl::tcgen05_after_thread_sync();
    if (tl::tl_shuffle_elect<128>()) {
      tl::fence_proxy_async();
      #pragma unroll
      for (int i_1 = 0; i_1 < 2; ++i_1) {
        tl::tma_store(C_desc, (&(((bfloat16_t*)Cs)[(i_1 * 8192)])), ((((int)blockIdx.x) * 128) + (i_1 * 64)), (((int)blockIdx.y) * 128));
      }
      tl::tma_store_arrive();
      tl::tma_store_wait<0, true>();
    }
  }
  if ((((int)threadIdx.x) >> 5) == 0) {
    tl::tmem_deallocate((&(Ct[0])), 128);
  }
}

