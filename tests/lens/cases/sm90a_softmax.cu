#if defined(_MSC_VER) && !defined(__clang__) && _MSC_VER < 1940
#define _tl_orig_alignas alignas
#define alignas(N) _tl_orig_alignas((N) <= 64 ? (N) : 64)
#include <cuda.h>
#undef alignas
#define alignas _tl_orig_alignas
#endif
#include <math_constants.h>
#include <tl_templates/cuda/reduce.h>
#include <tl_templates/cuda/scan.h>
#include <tl_templates/cuda/ldsm.h>
#include <tl_templates/cuda/threadblock_swizzle.h>
#include <tl_templates/cuda/debug.h>
#ifdef ENABLE_BF16
#include <tl_templates/cuda/cuda_bf16_fallbacks.cuh>
#endif

extern "C" __global__ void softmax_kernel(const half_t* __restrict__ X, half_t* __restrict__ Y);
extern "C" __global__ void __launch_bounds__(256, 1) softmax_kernel(const half_t* __restrict__ X, half_t* __restrict__ Y) {
  extern __shared__ __align__(1024) uchar buf_dyn_shmem[];
  void* workspace = ((void*)((char*)buf_dyn_shmem + 0));
  void* workspace_1 = ((void*)((char*)buf_dyn_shmem + 0));
  float x[4];
  float highest[1];
  float total[1];
  {
    half_t X_local_cast[4];
    uint2 condval;
    if ((((int)threadIdx.x) < 250)) {
      condval = *(uint2*)(X + ((((int)blockIdx.x) * 1000) + (((int)threadIdx.x) * 4)));
    } else {
      condval = make_uint2(__pack_half2((std::numeric_limits<half_t>::infinity() * half_t(-0x1p+0f/*-1.000000e+00*/)), (std::numeric_limits<half_t>::infinity() * half_t(-0x1p+0f/*-1.000000e+00*/))), __pack_half2((std::numeric_limits<half_t>::infinity() * half_t(-0x1p+0f/*-1.000000e+00*/)), (std::numeric_limits<half_t>::infinity() * half_t(-0x1p+0f/*-1.000000e+00*/))));
    }
    *(uint2*)(X_local_cast + 0) = condval;
    float4 condval_1;
    if ((((int)threadIdx.x) < 250)) {
      float4 __1;
      uint2 v_ = *(uint2*)(X_local_cast + 0);
      ((float2*)(&__1))[0] = __half22float2(((half2*)(&v_))[0]);
      ((float2*)(&__1))[1] = __half22float2(((half2*)(&v_))[1]);
      condval_1 = __1;
    } else {
      condval_1 = make_float4(((float)(std::numeric_limits<half_t>::infinity() * half_t(-0x1p+0f/*-1.000000e+00*/))), ((float)(std::numeric_limits<half_t>::infinity() * half_t(-0x1p+0f/*-1.000000e+00*/))), ((float)(std::numeric_limits<half_t>::infinity() * half_t(-0x1p+0f/*-1.000000e+00*/))), ((float)(std::numeric_limits<half_t>::infinity() * half_t(-0x1p+0f/*-1.000000e+00*/))));
    }
    *(float4*)(x + 0) = condval_1;
  }
  highest[0] = -CUDART_INF_F;
  #pragma unroll
  for (int rv = 0; rv < 4; ++rv) {
    highest[0] = max(highest[0], x[rv]);
  }
  highest[0] = tl::AllReduce<tl::MaxOp, 256, 1, 0, tl::NamedBarrier<256>>::run(highest[0], (&(((float*)workspace_1)[0])));
  float broadcast_var = 0x1.71547652b82fep+0f/*1.442695e+00*/;
  float4 __2;
  float4 __3;
    float4 __4;
      float4 v__1 = *(float4*)(x + 0);
      float4 v__2 = make_float4(highest[0], highest[0], highest[0], highest[0]);
      __4.x = (v__1.x-v__2.x);
      __4.y = (v__1.y-v__2.y);
      __4.z = (v__1.z-v__2.z);
      __4.w = (v__1.w-v__2.w);
    float4 v__3 = make_float4(broadcast_var, broadcast_var, broadcast_var, broadcast_var);
    __3.x = (__4.x*v__3.x);
    __3.y = (__4.y*v__3.y);
    __3.z = (__4.z*v__3.z);
    __3.w = (__4.w*v__3.w);
  __2.x = exp2f(__3.x);
  __2.y = exp2f(__3.y);
  __2.z = exp2f(__3.z);
  __2.w = exp2f(__3.w);
  *(float4*)(x + 0) = __2;
  total[0] = 0x0p+0f/*0.000000e+00*/;
  #pragma unroll
  for (int rv_1 = 0; rv_1 < 4; ++rv_1) {
    total[0] = (total[0] + x[rv_1]);
  }
  __syncthreads();
  total[0] = tl::AllReduce<tl::SumOp, 256, 1, 0, tl::NamedBarrier<256>>::run(total[0], (&(((float*)workspace)[0])));
  float4 __5;
    float4 v__4 = *(float4*)(x + 0);
    float4 v__5 = make_float4(total[0], total[0], total[0], total[0]);
    __5.x = (v__4.x/v__5.x);
    __5.y = (v__4.y/v__5.y);
    __5.z = (v__4.z/v__5.z);
    __5.w = (v__4.w/v__5.w);
  *(float4*)(x + 0) = __5;
  {
    half_t Y_local_cast_1[4];
    if (((int)threadIdx.x) < 250) {
      uint2 __6;
      float4 v__6 = *(float4*)(x + 0);
      ((half2*)(&__6))[0] = __float22half2_rn(((float2*)(&v__6))[0]);
      ((half2*)(&__6))[1] = __float22half2_rn(((float2*)(&v__6))[1]);
      *(uint2*)(Y_local_cast_1 + 0) = __6;
      *(uint2*)(Y + ((((int)blockIdx.x) * 1000) + (((int)threadIdx.x) * 4))) = *(uint2*)(Y_local_cast_1 + 0);
    }
  }
}

