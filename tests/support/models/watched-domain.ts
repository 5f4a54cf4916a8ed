import { type Domain, defineDomain, type Invariant } from '#kernel';

/**
 * A domain with the same rules. Its rules about members record the checked member: the first key of
 * its path.
 */
export function watchedDomain({ declared }: Domain<any, any, any>): {
  domain: Domain;
  judged: Set<string>;
} {
  const judged = new Set<string>();
  const watched = (rule: Invariant<any>): Invariant<any> =>
    rule.kind !== 'each'
      ? rule
      : {
          ...rule,
          check: (member: unknown, others: unknown, keys: readonly string[]) => {
            judged.add(keys[0] as string);
            return rule.check(member, others, keys);
          },
        };
  const domain = defineDomain({
    ...declared,
    invariants: (given) => {
      const { invariants } = declared;
      return (typeof invariants === 'function' ? invariants(given) : invariants).map(watched);
    },
  });
  return { domain: domain as unknown as Domain, judged };
}
