#if defined(_MSC_VER) && !defined(__clang__) && _MSC_VER < 1940
#define _tl_orig_alignas alignas
#define alignas(N) _tl_orig_alignas((N) <= 64 ? (N) : 64)
#include <cuda.h>
#undef alignas
#define alignas _tl_orig_alignas
#endif
#include <tl_templates/cuda/instruction/mma.h>
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
  void* B_shared = ((void*)((char*)buf_dyn_shmem + 8192));
  float acc[32];
  #pragma unroll
  for (int i = 0; i < 8; ++i) {
    float broadcast_var = 0x0p+0f/*0.000000e+00*/;
    *(float4*)(acc + (i * 4)) = make_float4(broadcast_var, broadcast_var, broadcast_var, broadcast_var);
  }
  #pragma unroll
  for (int i_1 = 0; i_1 < 2; ++i_1) {
    *(uint4*)(((half_t*)A_shared) + ((((i_1 * 1024) + ((((int)threadIdx.x) >> 2) * 32)) + (((((((int)threadIdx.x) & 31) >> 4) + ((((int)threadIdx.x) & 3) >> 1)) & 1) * 16)) + (((((((int)threadIdx.x) & 15) >> 3) + (((int)threadIdx.x) & 1)) & 1) * 8))) = *(uint4*)(A + ((((((int)blockIdx.y) * 32768) + (i_1 * 16384)) + ((((int)threadIdx.x) >> 2) * 512)) + ((((int)threadIdx.x) & 3) * 8)));
  }
  #pragma unroll
  for (int i_2 = 0; i_2 < 2; ++i_2) {
    *(uint4*)(((half_t*)B_shared) + ((((i_2 * 1024) + ((((int)threadIdx.x) >> 2) * 32)) + (((((((int)threadIdx.x) & 31) >> 4) + ((((int)threadIdx.x) & 3) >> 1)) & 1) * 16)) + (((((((int)threadIdx.x) & 15) >> 3) + (((int)threadIdx.x) & 1)) & 1) * 8))) = *(uint4*)(B + ((((((int)blockIdx.x) * 32768) + (i_2 * 16384)) + ((((int)threadIdx.x) >> 2) * 512)) + ((((int)threadIdx.x) & 3) * 8)));
  }
  for (int k = 0; k < 15; ++k) {
    __syncthreads();
    #pragma unroll
    for (int i_3 = 0; i_3 < 2; ++i_3) {
      *(uint4*)(((half_t*)A_shared) + (((((((k + 1) & 1) * 2048) + (i_3 * 1024)) + ((((int)threadIdx.x) >> 2) * 32)) + (((((((int)threadIdx.x) & 31) >> 4) + ((((int)threadIdx.x) & 3) >> 1)) & 1) * 16)) + (((((((int)threadIdx.x) & 15) >> 3) + (((int)threadIdx.x) & 1)) & 1) * 8))) = *(uint4*)(A + ((((((((int)blockIdx.y) * 32768) + (i_3 * 16384)) + ((((int)threadIdx.x) >> 2) * 512)) + (k * 32)) + ((((int)threadIdx.x) & 3) * 8)) + 32));
    }
    #pragma unroll
    for (int i_4 = 0; i_4 < 2; ++i_4) {
      *(uint4*)(((half_t*)B_shared) + (((((((k + 1) & 1) * 2048) + (i_4 * 1024)) + ((((int)threadIdx.x) >> 2) * 32)) + (((((((int)threadIdx.x) & 31) >> 4) + ((((int)threadIdx.x) & 3) >> 1)) & 1) * 16)) + (((((((int)threadIdx.x) & 15) >> 3) + (((int)threadIdx.x) & 1)) & 1) * 8))) = *(uint4*)(B + ((((((((int)blockIdx.x) * 32768) + (i_4 * 16384)) + ((((int)threadIdx.x) >> 2) * 512)) + (k * 32)) + ((((int)threadIdx.x) & 3) * 8)) + 32));
    }
    {
      half_t A_local[8];
      half_t B_local[8];
      __syncthreads();
      for (int ki = 0; ki < 4; ++ki) {
        #pragma unroll
        for (int i_5 = 0; i_5 < 2; ++i_5) {
          tl::ptx_ldmatrix_x4((&(((half_t*)A_shared)[((((((k & 1) * 2048) + (((((((((int)threadIdx.x) & 63) >> 5) * 4) + (i_5 * 2)) + (((((((int)threadIdx.x) & 15) * 32) + (((((int)threadIdx.x) & 31) >> 4) * 8)) + (ki * 8)) >> 8)) & 7) * 256)) + (((((((((int)threadIdx.x) & 31) >> 4) + ki) >> 2) + (((int)threadIdx.x) & 15)) & 7) * 32)) + ((((((((((((int)threadIdx.x) & 31) >> 4) + ki) >> 2) + (((int)threadIdx.x) & 15)) & 7) >> 2) + (((((((int)threadIdx.x) & 31) >> 4) + ki) & 3) >> 1)) & 1) * 16)) + ((((((((((((int)threadIdx.x) & 31) >> 4) + ki) >> 2) + (((int)threadIdx.x) & 15)) & 3) >> 1) + ((((((int)threadIdx.x) & 31) >> 4) + ki) & 1)) & 1) * 8))])), (&(A_local[(i_5 * 4)])));
        }
        #pragma unroll
        for (int i_6 = 0; i_6 < 4; ++i_6) {
          tl::ptx_ldmatrix_x2((&(((half_t*)B_shared)[((((((k & 1) * 2048) + (((((((((int)threadIdx.x) >> 6) * 4) + (((((((int)threadIdx.x) & 7) * 32) + (((((int)threadIdx.x) & 15) >> 3) * 8)) + (ki * 8)) >> 8)) + ((((int)threadIdx.x) & 31) >> 4)) + i_6) & 7) * 256)) + (((((((((int)threadIdx.x) & 15) >> 3) + ki) >> 2) + (((int)threadIdx.x) & 7)) & 7) * 32)) + ((((((((((((int)threadIdx.x) & 15) >> 3) + ki) >> 2) + (((int)threadIdx.x) & 7)) & 7) >> 2) + (((((((int)threadIdx.x) & 15) >> 3) + ki) & 3) >> 1)) & 1) * 16)) + ((((((((((((int)threadIdx.x) & 15) >> 3) + ki) >> 2) + (((int)threadIdx.x) & 7)) & 3) >> 1) + ((((((int)threadIdx.x) & 15) >> 3) + ki) & 1)) & 1) * 8))])), (&(B_local[(i_6 * 2)])));
        }
        for (int i_7 = 0; i_7 < 2; ++i_7) {
          for (int j = 0; j < 4; ++j) {
            tl::mma_sync<tl::DataType::kFloat16, tl::DataType::kFloat16, tl::DataType::kFloat32, 16, 8, 8, false, true>(reinterpret_cast<float*>(acc + ((i_7 * 16) + (j * 4))), reinterpret_cast<const unsigned*>(A_local + (i_7 * 4)), reinterpret_cast<const unsigned*>(B_local + (j * 2)));
          }
        }
      }
    }
  }
  {
    half_t A_local_1[8];
    half_t B_local_1[8];
    for (int ki_1 = 0; ki_1 < 4; ++ki_1) {
      #pragma unroll
      for (int i_8 = 0; i_8 < 2; ++i_8) {
        tl::ptx_ldmatrix_x4((&(((half_t*)A_shared)[(((((((((((((int)threadIdx.x) & 63) >> 5) * 4) + (i_8 * 2)) + (((((((int)threadIdx.x) & 15) * 32) + (((((int)threadIdx.x) & 31) >> 4) * 8)) + (ki_1 * 8)) >> 8)) & 7) * 256) + (((((((((int)threadIdx.x) & 31) >> 4) + ki_1) >> 2) + (((int)threadIdx.x) & 15)) & 7) * 32)) + ((((((((((((int)threadIdx.x) & 31) >> 4) + ki_1) >> 2) + (((int)threadIdx.x) & 15)) & 7) >> 2) + (((((((int)threadIdx.x) & 31) >> 4) + ki_1) & 3) >> 1)) & 1) * 16)) + ((((((((((((int)threadIdx.x) & 31) >> 4) + ki_1) >> 2) + (((int)threadIdx.x) & 15)) & 3) >> 1) + ((((((int)threadIdx.x) & 31) >> 4) + ki_1) & 1)) & 1) * 8)) + 2048)])), (&(A_local_1[(i_8 * 4)])));
      }
      #pragma unroll
      for (int i_9 = 0; i_9 < 4; ++i_9) {
        tl::ptx_ldmatrix_x2((&(((half_t*)B_shared)[(((((((((((((int)threadIdx.x) >> 6) * 4) + (((((((int)threadIdx.x) & 7) * 32) + (((((int)threadIdx.x) & 15) >> 3) * 8)) + (ki_1 * 8)) >> 8)) + ((((int)threadIdx.x) & 31) >> 4)) + i_9) & 7) * 256) + (((((((((int)threadIdx.x) & 15) >> 3) + ki_1) >> 2) + (((int)threadIdx.x) & 7)) & 7) * 32)) + ((((((((((((int)threadIdx.x) & 15) >> 3) + ki_1) >> 2) + (((int)threadIdx.x) & 7)) & 7) >> 2) + (((((((int)threadIdx.x) & 15) >> 3) + ki_1) & 3) >> 1)) & 1) * 16)) + ((((((((((((int)threadIdx.x) & 15) >> 3) + ki_1) >> 2) + (((int)threadIdx.x) & 7)) & 3) >> 1) + ((((((int)threadIdx.x) & 15) >> 3) + ki_1) & 1)) & 1) * 8)) + 2048)])), (&(B_local_1[(i_9 * 2)])));
      }
      for (int i_10 = 0; i_10 < 2; ++i_10) {
        for (int j_1 = 0; j_1 < 4; ++j_1) {
          tl::mma_sync<tl::DataType::kFloat16, tl::DataType::kFloat16, tl::DataType::kFloat32, 16, 8, 8, false, true>(reinterpret_cast<float*>(acc + ((i_10 * 16) + (j_1 * 4))), reinterpret_cast<const unsigned*>(A_local_1 + (i_10 * 4)), reinterpret_cast<const unsigned*>(B_local_1 + (j_1 * 2)));
        }
      }
    }
  }
  #pragma unroll
  for (int i_11 = 0; i_11 < 16; ++i_11) {
    half_t C_local_cast[2];
    uint1 __1;
    float2 v_ = *(float2*)(acc + (i_11 * 2));
    ((half2*)(&__1))[0] = __float22half2_rn(((float2*)(&v_))[0]);
    *(uint1*)(C_local_cast + 0) = __1;
    *(uint1*)(C + (((((((((((int)blockIdx.y) * 8192) + (((((int)threadIdx.x) & 63) >> 5) * 4096)) + ((i_11 >> 3) * 2048)) + ((i_11 & 1) * 1024)) + (((((int)threadIdx.x) & 31) >> 2) * 128)) + (((int)blockIdx.x) * 64)) + ((((int)threadIdx.x) >> 6) * 32)) + (((i_11 & 7) >> 1) * 8)) + ((((int)threadIdx.x) & 3) * 2))) = *(uint1*)(C_local_cast + 0);
  }
}

