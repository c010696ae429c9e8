#if defined(_MSC_VER) && !defined(__clang__) && _MSC_VER < 1940
#define _tl_orig_alignas alignas
#define alignas(N) _tl_orig_alignas((N) <= 64 ? (N) : 64)
#include <cuda.h>
#undef alignas
#define alignas _tl_orig_alignas
#endif
#include <tl_templates/cuda/instruction/mma_sm70.h>
#include <tl_templates/cuda/reduce.h>
#include <tl_templates/cuda/scan.h>
#include <tl_templates/cuda/ldsm.h>
#include <tl_templates/cuda/threadblock_swizzle.h>
#include <tl_templates/cuda/debug.h>
#ifdef ENABLE_BF16
#include <tl_templates/cuda/cuda_bf16_fallbacks.cuh>
#endif

extern "C" __global__ void gemm_kernel(const half_t* __restrict__ A, const half_t* __restrict__ B, half_t* __restrict__ C);
extern "C" __global__ void __launch_bounds__(128, 1) gemm_kernel(const half_t* __restrict__ A, const half_t* __restrict__ B, half_t* __restrict__ C) {
  extern __shared__ __align__(1024) uchar buf_dyn_shmem[];
  void* A_shared = ((void*)((char*)buf_dyn_shmem + 0));
  void* B_shared = ((void*)((char*)buf_dyn_shmem + 24576));
  float acc[128];
  #pragma unroll
  for (int i = 0; i < 32; ++i) {
    float broadcast_var = 0x0p+0f/*0.000000e+00*/;
    *(float4*)(acc + (i * 4)) = make_float4(broadcast_var, broadcast_var, broadcast_var, broadcast_var);
  }
  #pragma unroll
  for (int i_1 = 0; i_1 < 8; ++i_1) {
    *(uint2*)(((half_t*)A_shared) + ((((((((int)threadIdx.x) & 7) * 512) + (i_1 * 64)) + (((((int)threadIdx.x) & 31) >> 3) * 16)) + (((((((int)threadIdx.x) >> 6) + ((((int)threadIdx.x) & 7) >> 2)) + (i_1 & 1)) & 1) * 8)) + (((((((int)threadIdx.x) & 63) >> 5) + ((((int)threadIdx.x) & 3) >> 1)) & 1) * 4))) = *(uint2*)(A + ((((((int)blockIdx.y) * 131072) + (i_1 * 16384)) + ((((int)threadIdx.x) >> 3) * 1024)) + ((((int)threadIdx.x) & 7) * 4)));
  }
  #pragma unroll
  for (int i_2 = 0; i_2 < 8; ++i_2) {
    *(uint2*)(((half_t*)B_shared) + ((((((((int)threadIdx.x) & 7) * 512) + (i_2 * 64)) + (((((int)threadIdx.x) & 31) >> 3) * 16)) + (((((((int)threadIdx.x) >> 6) + ((((int)threadIdx.x) & 7) >> 2)) + (i_2 & 1)) & 1) * 8)) + (((((((int)threadIdx.x) & 63) >> 5) + ((((int)threadIdx.x) & 3) >> 1)) & 1) * 4))) = *(uint2*)(B + ((((((int)blockIdx.x) * 131072) + (i_2 * 16384)) + ((((int)threadIdx.x) >> 3) * 1024)) + ((((int)threadIdx.x) & 7) * 4)));
  }
  #pragma unroll
  for (int i_3 = 0; i_3 < 8; ++i_3) {
    *(uint2*)(((half_t*)A_shared) + (((((((((int)threadIdx.x) & 7) * 512) + (i_3 * 64)) + (((((int)threadIdx.x) & 31) >> 3) * 16)) + (((((((int)threadIdx.x) >> 6) + ((((int)threadIdx.x) & 7) >> 2)) + (i_3 & 1)) & 1) * 8)) + (((((((int)threadIdx.x) & 63) >> 5) + ((((int)threadIdx.x) & 3) >> 1)) & 1) * 4)) + 4096)) = *(uint2*)(A + (((((((int)blockIdx.y) * 131072) + (i_3 * 16384)) + ((((int)threadIdx.x) >> 3) * 1024)) + ((((int)threadIdx.x) & 7) * 4)) + 32));
  }
  #pragma unroll
  for (int i_4 = 0; i_4 < 8; ++i_4) {
    *(uint2*)(((half_t*)B_shared) + (((((((((int)threadIdx.x) & 7) * 512) + (i_4 * 64)) + (((((int)threadIdx.x) & 31) >> 3) * 16)) + (((((((int)threadIdx.x) >> 6) + ((((int)threadIdx.x) & 7) >> 2)) + (i_4 & 1)) & 1) * 8)) + (((((((int)threadIdx.x) & 63) >> 5) + ((((int)threadIdx.x) & 3) >> 1)) & 1) * 4)) + 4096)) = *(uint2*)(B + (((((((int)blockIdx.x) * 131072) + (i_4 * 16384)) + ((((int)threadIdx.x) >> 3) * 1024)) + ((((int)threadIdx.x) & 7) * 4)) + 32));
  }
  for (int k = 0; k < 30; ++k) {
    __syncthreads();
    #pragma unroll
    for (int i_5 = 0; i_5 < 8; ++i_5) {
      *(uint2*)(((half_t*)A_shared) + ((((((((k + 2) % 3) * 4096) + ((((int)threadIdx.x) & 7) * 512)) + (i_5 * 64)) + (((((int)threadIdx.x) & 31) >> 3) * 16)) + (((((((int)threadIdx.x) >> 6) + ((((int)threadIdx.x) & 7) >> 2)) + (i_5 & 1)) & 1) * 8)) + (((((((int)threadIdx.x) & 63) >> 5) + ((((int)threadIdx.x) & 3) >> 1)) & 1) * 4))) = *(uint2*)(A + ((((((((int)blockIdx.y) * 131072) + (i_5 * 16384)) + ((((int)threadIdx.x) >> 3) * 1024)) + (k * 32)) + ((((int)threadIdx.x) & 7) * 4)) + 64));
    }
    #pragma unroll
    for (int i_6 = 0; i_6 < 8; ++i_6) {
      *(uint2*)(((half_t*)B_shared) + ((((((((k + 2) % 3) * 4096) + ((((int)threadIdx.x) & 7) * 512)) + (i_6 * 64)) + (((((int)threadIdx.x) & 31) >> 3) * 16)) + (((((((int)threadIdx.x) >> 6) + ((((int)threadIdx.x) & 7) >> 2)) + (i_6 & 1)) & 1) * 8)) + (((((((int)threadIdx.x) & 63) >> 5) + ((((int)threadIdx.x) & 3) >> 1)) & 1) * 4))) = *(uint2*)(B + ((((((((int)blockIdx.x) * 131072) + (i_6 * 16384)) + ((((int)threadIdx.x) >> 3) * 1024)) + (k * 32)) + ((((int)threadIdx.x) & 7) * 4)) + 64));
    }
    {
      half_t A_local[16];
      half_t B_local[16];
      __syncthreads();
      for (int ki = 0; ki < 8; ++ki) {
        for (int i_7 = 0; i_7 < 4; ++i_7) {
          *(uint2*)(A_local + (i_7 * 4)) = *(uint2*)(((half_t*)A_shared) + ((((((((k % 3) * 4096) + (ki * 512)) + (((((int)threadIdx.x) & 63) >> 5) * 256)) + (i_7 * 64)) + ((((int)threadIdx.x) & 3) * 16)) + (((((ki >> 2) + ((((int)threadIdx.x) & 7) >> 2)) + (i_7 & 1)) & 1) * 8)) + (((((((int)threadIdx.x) & 31) >> 4) + ((ki & 3) >> 1)) & 1) * 4)));
        }
        for (int i_8 = 0; i_8 < 4; ++i_8) {
          *(uint2*)(B_local + (i_8 * 4)) = *(uint2*)(((half_t*)B_shared) + ((((((((k % 3) * 4096) + (ki * 512)) + ((((int)threadIdx.x) >> 6) * 256)) + (i_8 * 64)) + ((((int)threadIdx.x) & 3) * 16)) + ((((((((int)threadIdx.x) & 31) >> 4) + (ki >> 2)) + (i_8 & 1)) & 1) * 8)) + (((((((int)threadIdx.x) & 15) >> 3) + ((ki & 3) >> 1)) & 1) * 4)));
        }
        for (int i_9 = 0; i_9 < 4; ++i_9) {
          for (int j = 0; j < 4; ++j) {
            tl::mma_sync_sm70<tl::DataType::kFloat16, tl::DataType::kFloat16, tl::DataType::kFloat32, 16, 16, 4, false, true>(reinterpret_cast<float*>(acc + ((i_9 * 32) + (j * 8))), reinterpret_cast<const unsigned*>(A_local + (i_9 * 4)), reinterpret_cast<const unsigned*>(B_local + (j * 4)));
          }
        }
      }
    }
  }
  {
    half_t A_local_1[16];
    half_t B_local_1[16];
    for (int ki_1 = 0; ki_1 < 8; ++ki_1) {
      for (int i_10 = 0; i_10 < 4; ++i_10) {
        *(uint2*)(A_local_1 + (i_10 * 4)) = *(uint2*)(((half_t*)A_shared) + ((((((ki_1 * 512) + (((((int)threadIdx.x) & 63) >> 5) * 256)) + (i_10 * 64)) + ((((int)threadIdx.x) & 3) * 16)) + (((((ki_1 >> 2) + ((((int)threadIdx.x) & 7) >> 2)) + (i_10 & 1)) & 1) * 8)) + (((((((int)threadIdx.x) & 31) >> 4) + ((ki_1 & 3) >> 1)) & 1) * 4)));
      }
      for (int i_11 = 0; i_11 < 4; ++i_11) {
        *(uint2*)(B_local_1 + (i_11 * 4)) = *(uint2*)(((half_t*)B_shared) + ((((((ki_1 * 512) + ((((int)threadIdx.x) >> 6) * 256)) + (i_11 * 64)) + ((((int)threadIdx.x) & 3) * 16)) + ((((((((int)threadIdx.x) & 31) >> 4) + (ki_1 >> 2)) + (i_11 & 1)) & 1) * 8)) + (((((((int)threadIdx.x) & 15) >> 3) + ((ki_1 & 3) >> 1)) & 1) * 4)));
      }
      for (int i_12 = 0; i_12 < 4; ++i_12) {
        for (int j_1 = 0; j_1 < 4; ++j_1) {
          tl::mma_sync_sm70<tl::DataType::kFloat16, tl::DataType::kFloat16, tl::DataType::kFloat32, 16, 16, 4, false, true>(reinterpret_cast<float*>(acc + ((i_12 * 32) + (j_1 * 8))), reinterpret_cast<const unsigned*>(A_local_1 + (i_12 * 4)), reinterpret_cast<const unsigned*>(B_local_1 + (j_1 * 4)));
        }
      }
    }
  }
  {
    half_t A_local_2[16];
    half_t B_local_2[16];
    for (int ki_2 = 0; ki_2 < 8; ++ki_2) {
      for (int i_13 = 0; i_13 < 4; ++i_13) {
        *(uint2*)(A_local_2 + (i_13 * 4)) = *(uint2*)(((half_t*)A_shared) + (((((((ki_2 * 512) + (((((int)threadIdx.x) & 63) >> 5) * 256)) + (i_13 * 64)) + ((((int)threadIdx.x) & 3) * 16)) + (((((ki_2 >> 2) + ((((int)threadIdx.x) & 7) >> 2)) + (i_13 & 1)) & 1) * 8)) + (((((((int)threadIdx.x) & 31) >> 4) + ((ki_2 & 3) >> 1)) & 1) * 4)) + 4096));
      }
      for (int i_14 = 0; i_14 < 4; ++i_14) {
        *(uint2*)(B_local_2 + (i_14 * 4)) = *(uint2*)(((half_t*)B_shared) + (((((((ki_2 * 512) + ((((int)threadIdx.x) >> 6) * 256)) + (i_14 * 64)) + ((((int)threadIdx.x) & 3) * 16)) + ((((((((int)threadIdx.x) & 31) >> 4) + (ki_2 >> 2)) + (i_14 & 1)) & 1) * 8)) + (((((((int)threadIdx.x) & 15) >> 3) + ((ki_2 & 3) >> 1)) & 1) * 4)) + 4096));
      }
      for (int i_15 = 0; i_15 < 4; ++i_15) {
        for (int j_2 = 0; j_2 < 4; ++j_2) {
          tl::mma_sync_sm70<tl::DataType::kFloat16, tl::DataType::kFloat16, tl::DataType::kFloat32, 16, 16, 4, false, true>(reinterpret_cast<float*>(acc + ((i_15 * 32) + (j_2 * 8))), reinterpret_cast<const unsigned*>(A_local_2 + (i_15 * 4)), reinterpret_cast<const unsigned*>(B_local_2 + (j_2 * 4)));
        }
      }
    }
  }
  #pragma unroll
  for (int i_16 = 0; i_16 < 64; ++i_16) {
    half_t C_local_cast[2];
    uint1 __1;
    float2 v_ = *(float2*)(acc + (i_16 * 2));
    ((half2*)(&__1))[0] = __float22half2_rn(((float2*)(&v_))[0]);
    *(uint1*)(C_local_cast + 0) = __1;
    *(uint1*)(C + ((((((((((((((int)blockIdx.y) * 65536) + (((((int)threadIdx.x) & 63) >> 5) * 32768)) + ((i_16 >> 4) * 8192)) + (((((int)threadIdx.x) & 7) >> 2) * 4096)) + (((((int)threadIdx.x) & 31) >> 4) * 2048)) + ((i_16 & 1) * 1024)) + ((((int)threadIdx.x) & 1) * 512)) + (((int)blockIdx.x) * 128)) + ((((int)threadIdx.x) >> 6) * 64)) + (((i_16 & 15) >> 1) * 8)) + (((((int)threadIdx.x) & 15) >> 3) * 4)) + (((((int)threadIdx.x) & 3) >> 1) * 2))) = *(uint1*)(C_local_cast + 0);
  }
}

