/** The kind of counselor that verifies: the human that this work requires (seed 000 §3.2.2). */
export const EXPERT = 'expert';

/** Configuration maps the experts to principals of this form. */
export function isExpert(principal: string): boolean {
  return principal.startsWith('expert:');
}

/** A person's name, whether they submitted, were assigned, or decided as a principal. */
export function nameOf(principal: string): string {
  return principal.slice(principal.indexOf(':') + 1);
}
