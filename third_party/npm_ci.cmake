# Installs the packages that FROM/package-lock.json pins into TO/node_modules, without running any of their scripts, and makes
# sure that each of OUTPUTS (separated by "|") is there. npm verifies the hashes; its cache is used before the network.
string(REPLACE "|" ";" OUTPUTS "${OUTPUTS}")
file(MAKE_DIRECTORY "${TO}")
file(COPY "${FROM}/package.json" "${FROM}/package-lock.json" DESTINATION "${TO}")
foreach(attempt RANGE 1 3)
  execute_process(
    COMMAND "${NPM}" ci --ignore-scripts --prefer-offline --no-audit --no-fund --loglevel=error
    WORKING_DIRECTORY "${TO}"
    RESULT_VARIABLE status
    OUTPUT_QUIET ERROR_VARIABLE errors)
  if(status EQUAL 0)
    break()
  endif()
endforeach()
if(NOT status EQUAL 0)
  message(FATAL_ERROR "npm ci failed in ${TO}:\n${errors}")
endif()
foreach(output ${OUTPUTS})
  if(NOT EXISTS "${output}")
    message(FATAL_ERROR "npm ci brought no ${output}")
  endif()
endforeach()
# The archives carry times of their own, which may be older than the lock file.
file(TOUCH ${OUTPUTS})
