import { domainFrom } from '../bundle/ledger-part.ts';
import type { Scope } from '../bundle/scope.ts';
import type { Content } from '../bundle/verify.ts';
import { counted, element, facts, section } from './element.ts';
import { code, inert } from './inert.ts';
import { nameOfEntry, time } from './names.ts';

/** The question that the bundle answers, and until when the log is covered. */
export function scopePart({ manifest, part, checkpoint, witnesses }: Content): HTMLElement {
  const { scope, in_scope: inScope, made_at: made } = manifest;
  const context = part.entries.length - inScope.length;
  return section(
    'Scope',
    facts(
      ['About', about(scope, part)],
      ...('person' in scope || scope.kind === 'period' ? period(scope) : []),
      [
        'Entries',
        `${inScope.length} in scope${context === 0 ? '' : `, and ${context} that give them their meaning`}`,
      ],
      ['Checkpoint', counted(Number(checkpoint.size), 'entry of the log', 'entries of the log')],
      [
        'Witnesses',
        witnesses.length === 0
          ? 'none'
          : witnesses.map(({ name, at }) =>
              element('div', {}, inert(name), ', ', time(instantOf(at))),
            ),
      ],
      ['Made', [time(made), ' (as its maker says)']],
    ),
  );
}

/** An instant from seconds since 1970. */
function instantOf(seconds: bigint): string {
  const date = new Date(Number(seconds) * 1000);
  return Number.isNaN(date.getTime()) ? `${seconds} seconds since 1970` : date.toISOString();
}

function about(scope: Scope, part: Content['part']): readonly (Node | string)[] {
  switch (scope.kind) {
    case 'entry':
      return ['one entry: ', nameOfEntry(scope.entry, part)];
    case 'approval':
      return ['one approval: ', nameOfEntry(scope.approval, part)];
    case 'person':
      return ['a person: ', inert(scope.person)];
    case 'period':
      return [
        scope.trajectory === undefined
          ? 'a period, of all trajectories'
          : 'a period of one trajectory',
      ];
  }
}

function period(scope: Extract<Scope, { readonly kind: 'period' | 'person' }>) {
  const { from, to, trajectory } = scope;
  return [
    ['From', from === undefined ? undefined : time(from)],
    ['To, exclusive', to === undefined ? undefined : time(to)],
    ['Trajectory', trajectory === undefined ? undefined : inert(trajectory)],
  ] as const;
}

/** The domains and policies that were in force, by their digests. */
export function rulesPart({ part }: Content, policies: readonly string[]): HTMLElement {
  const domains = part.entries.flatMap((entry) => {
    const domain = domainFrom(entry.payload);
    if (domain === undefined) return [];
    const { name, version, hash } = domain;
    return [
      element(
        'li',
        {},
        element('strong', {}, inert(`${name} ${version}`)),
        ' from ',
        nameOfEntry(entry.id, part),
        element('br', {}),
        code(hash),
      ),
    ];
  });
  return section(
    'Domains and policies',
    element('ul', { class: 'plain' }, ...domains),
    policies.length === 0
      ? element('p', { class: 'dim' }, 'No entry here names a policy.')
      : element(
          'ul',
          { class: 'plain' },
          ...policies.map((digest) =>
            element('li', {}, element('strong', {}, 'Policy'), element('br', {}), code(digest)),
          ),
        ),
  );
}
