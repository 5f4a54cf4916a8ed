/**
 * The way of people to a session: a provider, a link of the command line, or a link that the start
 * of the server printed.
 */
export type SignInWay = 'oidc' | 'link' | 'start';

/** The remedy for a person whose link signs in no more. */
export function linkAdvice(way: SignInWay): string {
  return way === 'start'
    ? 'Stop the server and start it again: it prints new links.'
    : 'Create one with: assize token sign-in NAME.';
}
