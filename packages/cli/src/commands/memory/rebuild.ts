import {
  dim,
  EXIT,
  green,
  inSession,
  line,
  note,
  red,
  type Session,
  type SharedOptions,
  shortFact,
  watchedStore,
  withSharedOptions,
} from '@assize/command';
import { isAssizeError } from 'assize/internal/base';
import { checkMemory, type MemoryReport, rebuildMemory } from 'assize/internal/runtime';
import { counted } from 'assize/internal/views';
import { type Command, Option } from 'commander';
import { areKnownIncomplete } from '../../store/incomplete-facts.ts';

interface Options extends SharedOptions {
  readonly check?: boolean;
  readonly keep?: boolean;
}

export function rebuild(command: Command): void {
  withSharedOptions(
    command
      .command('rebuild')
      .description('rebuild the facts of the store from its ledger, or compare them')
      .option('--check', 'write nothing, and list the differences')
      .addOption(
        new Option(
          '--keep',
          'if the facts of an import cannot be rebuilt, restore the facts from before it',
        ).conflicts('check'),
      ),
  )
    .addHelpText(
      'after',
      '\nExamples:\n  assize memory rebuild --check\n  assize memory rebuild\n\n' +
        'During a rebuild, no process can read or write facts, and all other work continues. Repeat an interrupted rebuild.\n' +
        'If an import covers the same partitions as the store, its facts cannot be rebuilt and stay incomplete.\n' +
        'Then --keep restores the facts from before the import, and still reports the reason.\n' +
        'Sources are hashed with a key of the store. The ledger does not have this key. In another store, a repeated statement\n' +
        'is a new claim.\n' +
        'Negative: with --check, the facts differ or are incomplete; or a required entry does not verify.',
    )
    .action(
      inSession((session, { check = false, keep = false }: Options) =>
        check
          ? checked(session)
          : session.withStore('existing', async (store) => {
              const { changes, facts } = await rebuildMemory(
                watchedStore(store, session.interruption),
                {
                  keep,
                  onProgress: (done, total) =>
                    session.progress.report('reading entries', done, total),
                },
              ).catch(async (error: unknown) => {
                session.progress.end();
                if (
                  !keep &&
                  isAssizeError(error, 'invalid_ledger') &&
                  (await areKnownIncomplete(store))
                )
                  note(
                    'Restore the facts from before the import with: assize memory rebuild --keep',
                  );
                throw error;
              });
              session.progress.end();
              if (session.json) session.out.document({ changes, facts });
              else
                session.out.line(
                  line`${green('rebuilt')} ${counted(facts, 'fact version')} from ${counted(changes, 'change')}`,
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
    out.document({
      valid,
      facts,
      partitions,
      changed_meanwhile: changedMeanwhile,
      differences,
      more,
    });
    return;
  }
  if (differences.length > 0)
    out.table(
      [
        { title: 'difference' },
        { title: 'fact' },
        { title: 'since' },
        { title: 'space' },
        { title: 'subject' },
        { title: 'predicate' },
      ],
      differences.map(
        ({ kind, fact_id = '', system_time_start = '', space, subject, predicate }) => [
          red(kind),
          shortFact(fact_id),
          system_time_start,
          space,
          subject,
          predicate,
        ],
      ),
    );
  const sum = line`${counted(facts, 'fact version')} in ${counted(partitions, 'partition')} of the ledger`;
  out.line(
    valid
      ? green(line`${sum}: the store is equal.`)
      : red(line`${sum}: the store differs in ${differences.length + more}.`),
  );
  if (more > 0) out.line(dim(line`${more} more differences are not listed.`));
  if (changedMeanwhile > 0)
    out.line(
      dim(
        line`${counted(changedMeanwhile, 'partition')} changed during the comparison, and not compared.`,
      ),
    );
}
