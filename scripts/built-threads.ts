/**
 * A module as built, in which the files of threads are JavaScript. Sources name them by literal
 * URLs, which bundlers follow and the compiler leaves alone.
 */
export function withBuiltThreads(code: string): string {
  return code.replace(/(new URL\('\.\/[\w-]+-worker)\.ts('\s*,\s*import\.meta\.url\))/g, '$1.js$2');
}
