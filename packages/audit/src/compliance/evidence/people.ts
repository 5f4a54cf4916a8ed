import { beginsLike, isSamePrincipal } from 'assize/internal/kernel';

/** The beginnings of names that the guides and the server give to programs. */
const PROGRAMS = ['agent:', 'assize:', 'model:', 'service:'] as const;

/**
 * Whether a principal may be a person: its name is not that of a program, such as `agent:scout`. No
 * ledger shows that a principal is one. A program may have any other name.
 */
export function mayBePerson(principal: string): boolean {
  return !PROGRAMS.some((beginning) => beginsLike(principal, beginning));
}

/** The principals that may be people, each once, in whatever spelling. */
export function distinctPeople(principals: readonly string[]): readonly string[] {
  const found: string[] = [];
  for (const principal of principals.filter(mayBePerson))
    if (!found.some((known) => isSamePrincipal(known, principal))) found.push(principal);
  return found;
}
