/** The counselor kind for decisions that only a medical doctor may take (Agentic Redux §3.1). */
export const MD = 'md';

/** Configuration maps the clinic's doctors to principals of this form. */
export function isDoctor(principal: string): boolean {
  return principal.startsWith('md:');
}
