/** The counselor kind for decisions that the policy leaves to people. */
export const COORDINATOR = 'coordinator';

/** Configuration maps disclosure coordinators to principals of this form. */
export function isCoordinator(principal: string): boolean {
  return principal.startsWith('coordinator:');
}
