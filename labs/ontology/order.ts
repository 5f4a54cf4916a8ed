import type { Ontology } from './ontology.ts';

/**
 * By process, all processes that precede it: by `a:after`, or by preconditions that wait for a
 * process.
 */
export function earlier({ processes, rules }: Ontology): ReadonlyMap<string, ReadonlySet<string>> {
  const waitsFor = new Map(rules.map(({ term, after }) => [term, after]));
  const direct = new Map(
    processes.map(({ term, after, preconditions }) => [
      term,
      [...after, ...preconditions.flatMap((rule) => waitsFor.get(rule) ?? [])],
    ]),
  );
  return new Map(
    processes.map(({ term }) => {
      const all = new Set(direct.get(term));
      // A set that grows while it is gone through: each process is met once.
      for (const one of all) for (const further of direct.get(one) ?? []) all.add(further);
      return [term, all];
    }),
  );
}
