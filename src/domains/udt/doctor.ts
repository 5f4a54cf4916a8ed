/** The kind of counselor that decides what only a medical doctor may (seed 000 §3.1). */
export const MD = 'md';

/** Configuration maps the clinic's doctors to principals of this form. */
export function isDoctor(principal: string): boolean {
  return principal.startsWith('md:');
}
