/** The kind of counselor that decides what the policy leaves to people. */
export const COORDINATOR = 'coordinator';

/** Configuration maps the people who coordinate disclosures to principals of this form. */
export function isCoordinator(principal: string): boolean {
  return principal.startsWith('coordinator:');
}
