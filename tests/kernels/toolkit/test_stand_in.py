"""One program for every target: `T` is looked up when it is used, and means other things on the CPU."""

import types

from tileviz.kernels.toolkit.stand_in import CpuLanguage, LazyLanguage, for_cpu

HELPERS = """
def helper():
    return T

def program():
    return T, helper()
"""


def module() -> types.ModuleType:
    made = types.ModuleType("a_kernel_file")
    made.T = LazyLanguage()
    exec(HELPERS, made.__dict__)
    return made


def test_the_program_and_its_helpers_get_the_cpu_language():
    made = module()
    own, of_helper = for_cpu(made.program)()
    assert isinstance(own, CpuLanguage)
    assert of_helper is own


def test_the_file_itself_keeps_its_language():
    made = module()
    for_cpu(made.program)
    assert all(type(language) is LazyLanguage for language in made.program())


def test_names_of_tilelang_are_found_when_used():
    import tilelang.language

    assert LazyLanguage().ceildiv is tilelang.language.ceildiv
    assert CpuLanguage().ceildiv is tilelang.language.ceildiv


def test_hints_that_only_a_gpu_understands_do_nothing():
    assert CpuLanguage().use_swizzle(10, enable=True) is None
    assert CpuLanguage().annotate_layout({}) is None
