import {
  bold,
  dim,
  EXIT,
  inSession,
  line,
  type Output,
  type Printable,
  type SharedOptions,
  withSharedOptions,
  yellow,
} from '@assize/command';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { DerivedRole, DerivedRoles, Entity, Merge, Ontology } from '../index.ts';
import { loadOntology, ONTOLOGY_ARGUMENT } from './load.ts';

export interface RoleCliOptions extends SharedOptions {
  readonly threshold?: number;
}

export function thresholdOption(): Option {
  return new Option(
    '--threshold <x>',
    'minimum overlap of footprints to join two groups, from 0 to 1 (default: 0.25)',
  ).argParser((text) => {
    const value = Number(text);
    if (text.trim() === '' || !(value >= 0 && value <= 1))
      throw new InvalidArgumentError('It must be a number from 0 to 1.');
    return value;
  });
}

export function roles(command: Command): void {
  withSharedOptions(
    command
      .command('roles')
      .description(
        'derive worker roles from processes, with their slices and reasons (Procedure 1)',
      )
      .argument('<ontology>', ONTOLOGY_ARGUMENT)
      .addOption(thresholdOption()),
  )
    .addHelpText(
      'after',
      'Negative: the named roles differ from the derived ones.\n\n' +
        'Examples:\n  assize-experiments ontology roles udt\n  assize-experiments ontology roles udt --threshold 0.6   finer roles',
    )
    .action(
      inSession(async ({ json, out }, { threshold }: RoleCliOptions, nameOrFile: string) => {
        const ontology = await loadOntology(nameOrFile);
        const { deriveRoles } = await import('../index.ts');
        const derived = deriveRoles(ontology, threshold === undefined ? {} : { threshold });
        const { clustering, ...rest } = derived;
        if (json)
          out.document({
            ...rest,
            clustering: { ...clustering, weights: Object.fromEntries(clustering.weights) },
          });
        else print(out, ontology, derived);
        return derived.disagreements.length === 0 ? EXIT.ok : EXIT.negative;
      }),
    );
}

function print(out: Output, ontology: Ontology, derived: DerivedRoles): void {
  out.line(bold('Roles'));
  out.table(
    [{ title: 'role' }, { title: 'for each' }, { title: 'processes' }, { title: 'sees' }],
    derived.roles.map(({ name, params, processes, sees }) => [
      name,
      params.join(', ') || 'all',
      processes.join(', '),
      sees.join(', '),
    ]),
  );
  printMerges(out, ontology, derived);
  section(out, 'Well-formed: a process of the role needs each component that it sees (A.8)');
  out.table(
    [{ title: 'role' }, { title: 'component' }, { title: 'needed by' }],
    derived.roles.flatMap(({ name, needs }: DerivedRole) =>
      needs.map(({ component, process, way }) => [name, component, `${process} ${way} it`]),
    ),
  );
  if (derived.continuantRoles.length > 0) {
    section(out, 'Roles of a continuant: fields of the state, filled by no agent (A.4)');
    for (const { term, label, paths } of derived.continuantRoles)
      out.line(line`${term} (${label}): ${paths.join(', ')}`);
  }
  for (const text of derived.disagreements) out.line(line`${yellow('disagreement')}  ${text}`);
}

function printMerges(
  out: Output,
  ontology: Ontology,
  { clustering, threshold }: DerivedRoles,
): void {
  const { merges, next, keptSeparate, weights } = clustering;
  const names = new Map(ontology.processes.map(({ term, process }) => [term, process]));
  const text = (group: readonly string[]): string =>
    group.map((term) => names.get(term) ?? term).join(', ');
  const row = ({ left, right, overlap }: Merge, became: Printable): (string | Printable)[] => [
    became,
    overlap === undefined ? '' : overlap.toFixed(2),
    text(left),
    text(right),
  ];
  section(out, 'How the processes were grouped');
  out.line(
    line`Two processes overlap by what both touch, as a part of what the one touches that touches less; two groups by`,
  );
  out.line(
    line`the mean of their processes’. Groups are one role while they overlap by at least ${threshold}.`,
  );
  out.line(
    line`A component weighs ln(processes / processes that touch it), so that what all touch says nothing:`,
  );
  out.line(
    line`${[...weights].map(([term, weight]) => `${term} ${weight.toFixed(2)}`).join(', ')}`,
  );
  const rows = [
    ...merges.map((merge) =>
      row(merge, line`${merge.overlap === undefined ? 'together, by policy' : 'merged'}`),
    ),
    ...(next === undefined ? [] : [row(next, dim('not merged'))]),
    ...keptSeparate.map((merge) => row(merge, yellow('apart, by policy'))),
  ];
  if (rows.length > 0)
    out.table(
      [
        { title: '' },
        { title: 'overlap', align: 'right' },
        { title: 'this' },
        { title: 'and this' },
      ],
      rows,
    );
  for (const { term, definition } of reasonsOf(ontology))
    out.line(line`${dim('because')} ${term}: ${definition}`);
}

/** The lines about processes that are apart or together. */
function reasonsOf({ processes, others, rules }: Ontology): Entity[] {
  const divided = processes.flatMap(({ term, apartFrom, togetherWith }) =>
    [...apartFrom, ...togetherWith].map((other) => [term, other] as const),
  );
  return [...others, ...rules].filter(({ about }) =>
    divided.some(([one, other]) => about.includes(one) && about.includes(other)),
  );
}

function section(out: Output, title: string): void {
  out.line(line``);
  out.line(bold(title));
}
