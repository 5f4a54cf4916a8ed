/** The variables of a child process: those of this one, and where Node keeps compiled code. */
export function childEnvironment(
  compileCache: string | undefined,
): Readonly<Record<string, string | undefined>> {
  return {
    ...(compileCache !== undefined && { NODE_COMPILE_CACHE: compileCache }),
    ...process.env,
  };
}
