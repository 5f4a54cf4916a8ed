import {
  EXIT,
  green,
  inSession,
  line,
  type Output,
  red,
  type SharedOptions,
  type Value,
  withSharedOptions,
  yellow,
} from '@assize/command';
import { counted } from 'assize/internal/views';
import type { Command } from 'commander';
import type { Difference, Finding } from '../index.ts';
import { DOMAIN_OPTION, loadDomain, loadOntology, ONTOLOGY_ARGUMENT } from './load.ts';

/** The counted kinds, each with its singular noun. */
const ONE_OF = {
  continuants: 'continuant',
  components: 'component',
  processes: 'process',
  roles: 'role',
  rules: 'rule',
} as const;

type Counts = Readonly<Record<keyof typeof ONE_OF, number>>;

interface Options extends SharedOptions {
  readonly domain?: string;
}

export function checkOntology(command: Command): void {
  withSharedOptions(
    command
      .command('check')
      .description('check an ontology against BFO, and optionally a domain against the ontology')
      .argument('<ontology>', ONTOLOGY_ARGUMENT)
      .option(...DOMAIN_OPTION),
  )
    .addHelpText(
      'after',
      'Negative: an error, or a difference from the domain.\n\n' +
        'Examples:\n  assize-experiments ontology check udt --domain udt\n  assize-experiments ontology check ./library.ttl --domain ./library.ts',
    )
    .action(
      inSession(async ({ json, out }, { domain: named }: Options, nameOrFile: string) => {
        const ontology = await loadOntology(nameOrFile);
        const domain = named === undefined ? undefined : await loadDomain(named, ontology);
        const { check, compare } = await import('../index.ts');
        const findings = check(ontology);
        const errors = findings.filter(({ severity }) => severity === 'error').length;
        // An ontology with errors has no derivations to compare.
        const differences =
          domain === undefined || errors > 0 ? undefined : compare(ontology, domain);
        const ok = errors === 0 && (differences ?? []).length === 0;
        const { domain: name, continuants, components, processes, roles, rules } = ontology;
        const counts = {
          continuants: continuants.length,
          components: components.length,
          processes: processes.length,
          roles: roles.length,
          rules: rules.length,
        };
        if (json)
          out.document({
            domain: name,
            ok,
            ...counts,
            findings,
            ...(differences && { differences }),
          });
        else print(out, name, counts, findings, differences);
        return ok ? EXIT.ok : EXIT.negative;
      }),
    );
}

function print(
  out: Output,
  name: string,
  counts: Counts,
  findings: readonly Finding[],
  differences: readonly Difference[] | undefined,
): void {
  if (findings.length > 0) {
    out.table(
      [
        { title: '' },
        { title: 'line', align: 'right' },
        { title: 'term' },
        { title: 'code' },
        { title: 'problem and fix' },
      ],
      findings.map(({ severity, line: at, term, code, says, todo }): Value[] => [
        severity === 'error' ? red('error') : yellow('warning'),
        at === 0 ? '' : at,
        term,
        code,
        `${says}; ${todo}`,
      ]),
    );
    out.line(line``);
  }
  for (const { about, name: of, says } of differences ?? [])
    out.line(line`${red('differs')}  ${about} ${of}: ${says}`);
  const errors = findings.filter(({ severity }) => severity === 'error').length;
  const warnings = findings.length - errors;
  const found = errors === 0 ? green('no error') : red(counted(errors, 'error'));
  const size = Object.entries(counts).map(
    ([what, count]) => `${count} ${count === 1 ? ONE_OF[what as keyof Counts] : what}`,
  );
  out.line(line`${name}: ${found}, ${counted(warnings, 'warning')}; ${size.join(', ')}`);
  if (differences?.length === 0)
    out.line(
      line`${green('The domain matches the ontology')}: processes, roles and invariants are the same.`,
    );
}
