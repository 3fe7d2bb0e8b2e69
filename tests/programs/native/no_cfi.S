# Calls its argument from code that has no unwinding information, and from code whose information is wrong.
        .text
        .globl call_without_information
        .type call_without_information, @function
call_without_information:
        subq $24, %rsp
        call *%rdi
        addq $24, %rsp
        ret
        .size call_without_information, .-call_without_information

        .globl call_with_wrong_information
        .type call_with_wrong_information, @function
call_with_wrong_information:
        .cfi_startproc
        subq $24, %rsp
        call *%rdi
        addq $24, %rsp
        ret
        .cfi_endproc
        .size call_with_wrong_information, .-call_with_wrong_information
        .section .note.GNU-stack, "", @progbits
