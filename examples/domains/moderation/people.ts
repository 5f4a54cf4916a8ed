/** The kind of counselor that decides what only a person may: permanent bans, and appeals. */
export const MODERATOR = 'moderator';

/** Configuration maps the people of the team to principals of this form. */
export function isModerator(principal: string): boolean {
  return principal.startsWith('mod:');
}

/** A person's name, whether they proposed something as an officer or approved it as a principal. */
export function nameOf(principal: string): string {
  return principal.slice(principal.indexOf(':') + 1);
}
