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

extern "C" __global__ void gemm_kernel(__grid_constant__ const CUtensorMap A_desc, __grid_constant__ const CUtensorMap B_desc, __grid_constant__ const CUtensorMap C_desc);
extern "C" __global__ void __launch_bounds__(128, 1) gemm_kernel(__grid_constant__ const CUtensorMap A_desc, __grid_constant__ const CUtensorMap B_desc, __grid_constant__ const CUtensorMap C_desc) {
  extern __shared__ __align__(1024) uchar buf_dyn_shmem[];
  void* A_shared = ((void*)((char*)buf_dyn_shmem + 0));
  void* C_shared = ((void*)((char*)buf_dyn_shmem + 0));
  void* B_shared = ((void*)((char*)buf_dyn_shmem + 49152));
  __shared__ __align__(16) uint64_t filled_mem[3];
  auto filled = reinterpret_cast<Barrier*>(filled_mem);
  __shared__ __align__(16) uint64_t free_mem[3];
  auto free = reinterpret_cast<Barrier*>(free_mem);
  __shared__ __align__(16) uint64_t finished_mem[1];
  auto finished = reinterpret_cast<Barrier*>(finished_mem);
  __shared__ __align__(16) uint acc[1];
  float part[64];
  if (tl::tl_shuffle_elect<0>()) {
    tl::prefetch_tma_descriptor(A_desc);
    tl::prefetch_tma_descriptor(B_desc);
    tl::prefetch_tma_descriptor(C_desc);
  }
  if (tl::tl_shuffle_elect<0>()) {
    filled[0].init(32);
    filled[1].init(32);
    filled[2].init(32);
    free[0].init(1);
    free[1].init(1);
    free[2].init(1);
    finished[0].init(1);
  }
  tl::fence_barrier_init();
  tl::tcgen05_before_thread_sync();
  __syncthreads();
  tl::tcgen05_after_thread_sync();
  if ((((int)threadIdx.x) >> 5) == 0) {
    tl::tmem_allocate((&(acc[0])), 64);
  }
  tl::tcgen05_before_thread_sync();
  __syncthreads();
  tl::tcgen05_after_thread_sync();
  if (((int)threadIdx.x) < 32) {
    for (int k = 0; k < 64; ++k) {
      free[(k % 3)].wait((((k / 3) + 1) & 1));
      if (tl::tl_shuffle_elect<32>()) {
        filled[(k % 3)].expect_transaction(16384);
        tl::tma_load(A_desc, filled[(k % 3)], (&(((half_t*)A_shared)[((k % 3) * 8192)])), (k * 64), 0);
        filled[(k % 3)].expect_transaction(8192);
        tl::tma_load(B_desc, filled[(k % 3)], (&(((half_t*)B_shared)[((k % 3) * 4096)])), (((int)blockIdx.x) * 64), (k * 64));
      }
      filled[(k % 3)].arrive();
    }
  } else {
    if (((int)threadIdx.x) < 64) {
      for (int k_1 = 0; k_1 < 64; ++k_1) {
        filled[(k_1 % 3)].wait(((k_1 % 6) / 3));
        tl::tcgen05_after_thread_sync();
        {
          tl::Tcgen05SMemDescriptor desc_a;
          tl::Tcgen05SMemDescriptor desc_b;
          tl::initialize_tcgen05_descriptor(desc_a, (&(((half_t*)A_shared)[0])), 1, 64, 0, 0, 2);
          tl::increase_descriptor_offset<int>(desc_a, ((k_1 % 3) * 16384));
          tl::initialize_tcgen05_descriptor(desc_b, (&(((half_t*)B_shared)[0])), 0, 64, 0, 0, 2);
          tl::increase_descriptor_offset<int>(desc_b, ((k_1 % 3) * 8192));
          tl::fence_proxy_async();
          #pragma unroll
          for (int ki = 0; ki < 4; ++ki) {
            tl::tcgen05mma_ss<tl::DataType::kFloat16, false>(uint64_t(desc_a + (ki * 32)), uint64_t(desc_b + (ki * 2048)), (*reinterpret_cast<uint32_t*>(acc)) + 0, ((0 < ki) ? 1 : ((k_1 == 0) ? 0 : 1)), static_cast<uint32_t>(135331856), 0, 0, 0, 0);
          }
          tl::tcgen05_mma_arrive((&(free[(k_1 % 3)])));
        }
      }
      tl::tcgen05_mma_arrive((&(finished[0])));
    }
  }
  finished[0].wait(0);
  tl::tcgen05_after_thread_sync();
  tl::tcgen05_ld_32dp32bNx<64, false>(acc[0], 0, (&(part[0])));
  tl::tcgen05_before_thread_sync();
  __syncthreads();
  tl::tcgen05_after_thread_sync();
  #pragma unroll
  for (int i = 0; i < 8; ++i) {
    half_t C_shared_local_cast[8];
    for (int vec = 0; vec < 2; ++vec) {
      uint2 __1;
      float4 v_ = *(float4*)(part + ((i * 8) + (vec * 4)));
      ((half2*)(&__1))[0] = __float22half2_rn(((float2*)(&v_))[0]);
      ((half2*)(&__1))[1] = __float22half2_rn(((float2*)(&v_))[1]);
      *(uint2*)(C_shared_local_cast + (vec * 4)) = __1;
    }
    *(uint4*)(((half_t*)C_shared) + ((((((int)threadIdx.x) * 64) + ((((i >> 2) + ((((int)threadIdx.x) & 7) >> 2)) & 1) * 32)) + (((((i & 3) >> 1) + ((((int)threadIdx.x) & 3) >> 1)) & 1) * 16)) + ((((i & 1) + (((int)threadIdx.x) & 1)) & 1) * 8))) = *(uint4*)(C_shared_local_cast + 0);
  }
  tl::tcgen05_before_thread_sync();
  __syncthreads();
  tl::tcgen05_after_thread_sync();
  if (tl::tl_shuffle_elect<128>()) {
    tl::fence_proxy_async();
    tl::tma_store(C_desc, (&(((half_t*)C_shared)[0])), (((int)blockIdx.x) * 64), 0);
    tl::tma_store_arrive();
    tl::tma_store_wait<0, true>();
  }
  tl::tcgen05_before_thread_sync();
  __syncthreads();
  tl::tcgen05_after_thread_sync();
  if (((int)threadIdx.x) < 32) {
    tl::tmem_deallocate((&(acc[0])), 64);
  }
}

