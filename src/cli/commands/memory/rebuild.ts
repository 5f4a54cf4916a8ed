import { type Command, Option } from 'commander';
import { isAssizeError } from '#base';
import { checkMemory, type MemoryReport, rebuildMemory } from '#runtime';
import { EXIT, note } from '../../errors.ts';
import { withSharedOptions } from '../../files/options.ts';
import { shortFact } from '../../render/fact-text.ts';
import { areKnownIncomplete } from '../../store/incomplete-facts.ts';
import { inSession, type Session, type SharedOptions } from '../../store/session.ts';
import { watchedStore } from '../../store/watched-store.ts';
import { counted } from '../../terminal/counted.ts';
import { dim, green, line, red } from '../../terminal/printable.ts';

interface Options extends SharedOptions {
  readonly check?: boolean;
  readonly keep?: boolean;
}

export function rebuild(command: Command): void {
  withSharedOptions(
    command
      .command('rebuild')
      .description('make the facts of the store anew from its ledger, or say where they differ from it')
      .option('--check', 'write nothing, and list what differs')
      .addOption(
        new Option(
          '--keep',
          'where an import has brought what no facts can be made of, have those again that there were before it',
        ).conflicts('check'),
      ),
  )
    .addHelpText(
      'after',
      '\nExamples:\n  assize memory rebuild --check\n  assize memory rebuild\n\n' +
        'While facts are made anew nobody reads or writes them, and all else goes on. Where it is interrupted, do it again.\n' +
        'Where an import has brought what no facts can be made of, as it speaks of the same as the store does, they stay incomplete; --keep has\n' +
        'those again that there were before it, and says all the same why.\n' +
        'By which name a source was heard is known by a key of the store, which is no part of the ledger: in another store\n' +
        'what was heard before is said anew.\n' +
        'Negative: with --check something differs, or the facts are not whole; an entry that is needed does not verify.',
    )
    .action(
      inSession((session, { check = false, keep = false }: Options) =>
        check
          ? checked(session)
          : session.withStore('existing', async (store) => {
              const { changes, facts } = await rebuildMemory(watchedStore(store, session.interruption), {
                keep,
                onProgress: (done, total) => session.progress.report('reading entries', done, total),
              }).catch(async (error: unknown) => {
                session.progress.end();
                if (!keep && isAssizeError(error, 'invalid_ledger') && (await areKnownIncomplete(store)))
                  note(
                    'Those facts that there were before an import are to be had again, without what it has brought: assize memory rebuild --keep',
                  );
                throw error;
              });
              session.progress.end();
              if (session.json) session.out.document({ changes, facts });
              else
                session.out.line(
                  line`${green('rebuilt')} ${counted(facts, 'version')} of facts, from ${counted(changes, 'change')}`,
                );
              return EXIT.ok;
            }),
      ),
    );
}

function checked(session: Session): Promise<number> {
  return session.withStore('readonly', async (store) => {
    try {
      const report = await checkMemory(watchedStore(store, session.interruption), {
        onProgress: (done, total) => session.progress.report('reading entries', done, total),
      });
      session.progress.end();
      print(session, report);
      return report.valid ? EXIT.ok : EXIT.negative;
    } catch (error) {
      if (!isAssizeError(error, 'store_facts_incomplete')) throw error;
      session.progress.end();
      if (session.json) session.out.document({ valid: false, incomplete: true });
      else session.out.line(red(error.message));
      return EXIT.negative;
    }
  });
}

function print({ json, out }: Session, report: MemoryReport): void {
  const { valid, facts, partitions, changedMeanwhile, differences, more } = report;
  if (json) {
    out.document({ valid, facts, partitions, changed_meanwhile: changedMeanwhile, differences, more });
    return;
  }
  if (differences.length > 0)
    out.table(
      [
        { title: 'what' },
        { title: 'fact' },
        { title: 'since' },
        { title: 'space' },
        { title: 'subject' },
        { title: 'predicate' },
      ],
      differences.map(({ kind, fact_id = '', system_time_start = '', space, subject, predicate }) => [
        red(kind),
        shortFact(fact_id),
        system_time_start,
        space,
        subject,
        predicate,
      ]),
    );
  const sum = line`${counted(facts, 'version')} of facts by the ledger, of ${counted(partitions, 'partition')}`;
  out.line(
    valid
      ? green(line`${sum}: the store has the same.`)
      : red(line`${sum}: the store differs in ${differences.length + more}.`),
  );
  if (more > 0) out.line(dim(line`${more} of them are not listed.`));
  if (changedMeanwhile > 0)
    out.line(dim(line`${changedMeanwhile} were changed while they were compared, and are left out.`));
}
