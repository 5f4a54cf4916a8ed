/** The ontology of a domain describes the domain's own processes, roles and rules, to the path. */

import type { Domain } from 'assize';
import { type Pattern, patternText } from 'assize/internal/kernel';
import { describe, expect, test } from 'vitest';
import { moderation } from '../../../examples/domains/moderation/index.ts';
import { verification } from '../../../examples/domains/verification/index.ts';
import { OntologyTerms } from '../testing/ontology-terms.ts';

describe.each([moderation, verification] as unknown as Domain[])('$name', (domain) => {
  const terms = new OntologyTerms(domain.name);
  const sorted = (texts: readonly string[] = []): string[] => [...texts].sort();

  test('every term that is named is described, with a label and a definition', () => {
    expect(terms.undescribed()).toEqual([]);
  });

  test('processes read and write the same paths', () => {
    const described = [...terms.all('process')].map(([term, [name = '']]) => [
      name,
      { reads: terms.paths(term, 'reads'), writes: terms.paths(term, 'writes') },
    ]);
    const declared = Object.entries(domain.processes).map(([name, { reads, writes }]) => [
      name,
      { reads: sorted(reads), writes: sorted(writes) },
    ]);
    expect(Object.fromEntries(described)).toEqual(Object.fromEntries(declared));
  });

  test('roles are realized in the processes that they have', () => {
    const realized = 'http://purl.obolibrary.org/obo/BFO_0000054';
    const described = [...terms.all('role')].map(([term, [name = '']]) => [
      name,
      sorted(terms.objects(term, realized).flatMap((process) => terms.of(process, 'process'))),
    ]);
    const declared = Object.entries(domain.roles).map(([name, { processes }]) => [
      name,
      sorted(processes),
    ]);
    expect(Object.fromEntries(described)).toEqual(Object.fromEntries(declared));
  });

  test('rules have the same order and failures, and refer to the paths they read', () => {
    const described = [...terms.all('rule')]
      .map(([term, [id = '']]) => ({ term, id, order: Number(terms.of(term, 'order')[0]) }))
      .sort((a, b) => a.order - b.order);
    expect(described.map(({ id, order }) => [id, order])).toEqual(
      domain.rules.map(({ id }, i) => [id, i + 1]),
    );
    for (const [i, { term, id }] of described.entries()) {
      const { patterns, spec } = domain.rules[i]!;
      // A rule may read the fields of a component's value. The rule then refers to that component.
      const components = terms
        .paths(term, 'refersTo')
        .map((path) => path.replaceAll(/\{\w+\}/g, '*'));
      const footprint = patterns.map((pattern: Pattern) => patternText(pattern));
      for (const read of footprint)
        expect(
          components.some((path) => isWithin(read, path)),
          `${id} reads ${read}`,
        ).toBe(true);
      for (const path of components)
        expect(
          footprint.some((read) => isWithin(read, path)),
          `${id}: ${path}`,
        ).toBe(true);
      expect(terms.of(term, 'counselor')).toEqual(spec.channel === undefined ? [] : [spec.channel]);
      expect(terms.of(term, 'onFailure')).toEqual([
        spec.channel === undefined ? 'reject' : 'escalate',
      ]);
    }
  });
});

/** `/a/*` and the paths below it are within `/a`. */
function isWithin(read: string, component: string): boolean {
  return read === component || read.startsWith(`${component}/`);
}
