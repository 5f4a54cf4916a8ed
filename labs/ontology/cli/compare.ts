import {
  bold,
  dim,
  EXIT,
  green,
  inSession,
  line,
  type Output,
  type Printable,
  repeatable,
  type SharedOptions,
  type Value,
  withSharedOptions,
  writeNew,
  yellow,
} from '@assize/command';
import { type Command, Option } from 'commander';
import type {
  AlignedSteps,
  ArchitectureLevel,
  HappyPath,
  Isomorphism,
  PathStep,
} from '../index.ts';
import { loadOntology, ONTOLOGY_ARGUMENT } from './load.ts';
import { thresholdOption } from './roles.ts';
import { pathsOf, type WalkCliOptions } from './walks.ts';

interface Options extends SharedOptions, WalkCliOptions {
  readonly level: ArchitectureLevel;
  readonly without: readonly string[];
  readonly out?: string;
  readonly force?: boolean;
}

const LEVELS = ['diagram', 'wiring'] as const;

export function compareOntologies(command: Command): void {
  withSharedOptions(
    command
      .command('compare')
      .description(
        'compare two ontologies: the happy paths of their domains, and their derived architectures',
      )
      .argument('<a>', ONTOLOGY_ARGUMENT)
      .argument('<b>', ONTOLOGY_ARGUMENT)
      .addOption(
        new Option(
          '--level <level>',
          'what must be isomorphic: the agents around the meta-agent, or all reads and writes',
        )
          .choices(LEVELS)
          .default('diagram'),
      )
      .addOption(
        repeatable('--without <role>', 'role that no agent fills, left out of the architectures'),
      )
      .addOption(
        repeatable(
          '--domain <name>',
          'domain of an ontology, to run it; a domain with a shipped walk is run',
        ),
      )
      .addOption(repeatable('--walk <file>', 'JSON file with a run of a domain on its happy path'))
      .addOption(thresholdOption())
      .option('--out <file>', 'draw both happy paths and the mapping as SVG')
      .option('--force', 'overwrite an existing file'),
  )
    .addHelpText(
      'after',
      'assize-experiments ontology check --domain compares an ontology with its own domain.\n' +
        'Negative: the architectures are not isomorphic at the level.\n\n' +
        'Examples:\n  assize-experiments ontology compare udt disclosure\n' +
        '  assize-experiments ontology compare disclosure verification --without Intake --without Staffing --without Registry --out paths.svg',
    )
    .action(
      inSession(async ({ json, out }, options: Options, nameOrFile: string, other: string) => {
        const { level, without, threshold, out: file, force = false } = options;
        const [a, b] = [await loadOntology(nameOrFile), await loadOntology(other)] as const;
        const { alignPaths, drawComparison, isomorphism } = await import('../index.ts');
        const settings = { without, ...(threshold !== undefined && { threshold }) };
        const architectures = LEVELS.map((each) => isomorphism(a, b, { ...settings, level: each }));
        const chosen = architectures.find((one) => one.level === level) as Isomorphism;
        const [one, two] = (await pathsOf(
          [
            { nameOrFile, ontology: a },
            { nameOrFile: other, ontology: b },
          ],
          options,
        )) as [HappyPath, HappyPath];
        const aligned = alignPaths(one, two);
        if (file !== undefined) writeNew([[file, drawComparison(one, two, chosen)]], force);
        if (json) {
          const rows = aligned.map((row) => ({ ...row, a: row.a?.process, b: row.b?.process }));
          const found = {
            isomorphic: chosen.isomorphic,
            level,
            paths: [one, two],
            aligned: rows,
            architectures,
          };
          out.document(file === undefined ? found : { ...found, file });
        } else {
          printPaths(out, [one, two], aligned);
          for (const each of architectures) printArchitectures(out, each, each === chosen);
          if (file !== undefined) out.line(line`${file} written`);
        }
        return chosen.isomorphic ? EXIT.ok : EXIT.negative;
      }),
    );
}

function printPaths(
  out: Output,
  paths: readonly [HappyPath, HappyPath],
  aligned: readonly AlignedSteps[],
): void {
  const [a, b] = paths;
  out.line(bold('Happy paths, side by side'));
  const cells = (step: PathStep | undefined): Value[] =>
    step === undefined ? ['', ''] : [step.process, step.role];
  const differ = ({ a: one, b: two, differences }: AlignedSteps): string => {
    if (one === undefined) return `only ${b.domain}`;
    if (two === undefined) return `only ${a.domain}`;
    return differences
      .map(({ only, trait }) => `${only === 'a' ? a.domain : b.domain} ${trait}`)
      .join(', ');
  };
  out.table(
    [
      { title: a.domain },
      { title: 'role' },
      { title: b.domain },
      { title: 'role' },
      { title: 'differs' },
    ],
    aligned.map((row) => [...cells(row.a), ...cells(row.b), differ(row)]),
  );
  for (const path of paths) printPath(out, path);
}

function printPath(out: Output, path: HappyPath): void {
  const { domain, continuant, steps, beside, contradictions, states } = path;
  out.line(line``);
  out.line(
    line`${bold(`The ${continuant} of ${domain}`)}${states > 0 ? dim(`, run with proposals drawn on ${states} states`) : dim(', not run')}`,
  );
  const row = (step: PathStep, place: Value): Value[] => [
    place,
    step.process,
    step.role,
    passingOf(step),
    shortList(step.writes),
    shortList(step.rules),
  ];
  out.table(
    [
      { title: '#', align: 'right' },
      { title: 'process' },
      { title: 'role' },
      { title: 'passes' },
      { title: 'writes' },
      { title: 'rules that may stop it' },
    ],
    [...steps.map((step, i) => row(step, i + 1)), ...beside.map((step) => row(step, 'beside'))],
  );
  out.line(counselorText(path));
  for (const text of contradictions)
    out.line(line`${yellow('differs from the declared order')}  ${text}`);
}

/** --json has all of them. */
const LISTED_MAX = 3;

function shortList(names: readonly string[]): string {
  if (names.length === 0) return 'none';
  const more = names.length - LISTED_MAX;
  return `${names.slice(0, LISTED_MAX).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function passingOf({ passes, by }: PathStep): Printable | string {
  return passes === 'with a counselor'
    ? line`${yellow(`with ${by?.approvedBy?.split(':')[0] ?? 'a counselor'}`)}`
    : passes;
}

function counselorText({ counselor, steps, beside }: HappyPath): Printable {
  const rules = [...steps, ...beside].flatMap(({ escalations }) =>
    escalations.map(({ rule }) => rule),
  );
  const asking = [...new Set(rules)].join(', ');
  switch (counselor) {
    case 'on the path': {
      const only = steps
        .filter(({ passes }) => passes === 'with a counselor')
        .map(({ process }) => process);
      return line`Counselor: ${bold('on the path')}; ${only.join(', ')} passes only with a counselor (${asking}).`;
    }
    case 'beside':
      return line`Counselor: ${bold('beside the path')}, an exception handler for ${asking}.`;
    case 'none':
      return line`Counselor: ${bold('none')}; no rule escalates.`;
    case 'open':
      return line`Counselor: ${bold('open')}; ${asking} may escalate, and no run reached every such process.`;
  }
}

function printArchitectures(
  out: Output,
  { level, isomorphic, mapping, differences }: Isomorphism,
  isChosen: boolean,
): void {
  out.line(line``);
  const said = isomorphic ? green('isomorphic') : yellow('not isomorphic');
  out.line(
    line`${bold(`Architectures, ${level}`)}: ${said}${isomorphic ? '' : `: ${differences.join('; ')}`}`,
  );
  if (isomorphic && isChosen)
    out.table(
      [{ title: '' }, { title: 'this' }, { title: 'is this' }],
      mapping.map(({ kind, a, b }) => [kind, a, b]),
    );
}
