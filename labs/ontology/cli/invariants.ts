import {
  EXIT,
  inSession,
  line,
  type Output,
  type Value,
  withSharedOptions,
  yellow,
} from '@assize/command';
import type { Command } from 'commander';
import type { DerivedInvariant } from '../index.ts';
import { loadOntology, ONTOLOGY_ARGUMENT } from './load.ts';
import { type RoleCliOptions, thresholdOption } from './roles.ts';

export function invariants(command: Command): void {
  withSharedOptions(
    command
      .command('invariants')
      .description('derive invariants from rules and preconditions, with their roles (Procedure 2)')
      .argument('<ontology>', ONTOLOGY_ARGUMENT)
      .addOption(thresholdOption()),
  )
    .addHelpText('after', '\nExample:\n  assize-experiments ontology invariants udt')
    .action(
      inSession(async ({ json, out }, { threshold }: RoleCliOptions, nameOrFile: string) => {
        const ontology = await loadOntology(nameOrFile);
        const { deriveInvariants } = await import('../index.ts');
        const derived = deriveInvariants(ontology, threshold === undefined ? {} : { threshold });
        if (json) out.document(derived);
        else print(out, derived);
        return EXIT.ok;
      }),
    );
}

function print(out: Output, derived: readonly DerivedInvariant[]): void {
  out.table(
    [
      { title: '#', align: 'right' },
      { title: 'invariant' },
      { title: 'from' },
      { title: 'by A.10' },
      { title: 'meets (§2.3)' },
      { title: 'else' },
      { title: 'footprint' },
    ],
    derived.map(
      (
        { id, from, gates, crossCutting, localTo, meets, meetsTwice, counselor, reads },
        i,
      ): Value[] => [
        i + 1,
        id,
        from === 'policy' ? 'policy' : `precondition of ${gates.join(', ')}`,
        crossCutting ? yellow('cross-cutting') : `local to ${localTo.join(', ')}`,
        meets.map((role) => (meetsTwice.includes(role) ? `each ${role}` : role)).join(', ') ||
          'none',
        counselor === '' ? 'reject' : `ask ${counselor}`,
        reads.join(', '),
      ],
    ),
  );
  const crossing = derived.filter(({ crossCutting }) => crossCutting).length;
  const meeting = derived.filter(
    ({ meets, meetsTwice }) => meets.length > 1 || meetsTwice.length > 0,
  ).length;
  out.line(line``);
  out.line(
    line`${crossing} of ${derived.length} are cross-cutting: contained in no role’s footprint (A.10); ${meeting} overlap two or more workers (§2.3).`,
  );
}
