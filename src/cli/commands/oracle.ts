import type { Command } from 'commander';
import { type Attempt, attemptsOf } from '#oracle';
import { CliError, EXIT } from '../errors.ts';
import { withSharedOptions } from '../files/options.ts';
import { shortTime } from '../render/summary.ts';
import { shortId } from '../store/entries.ts';
import { inSession, type SharedOptions } from '../store/session.ts';
import { bold, line } from '../terminal/printable.ts';
import { shortJson } from '../terminal/short-json.ts';

/** Maximum number of shown characters of an answer. Ids are shown in full. */
const ANSWER_MAX = 200;

export function oracle(program: Command): void {
  withSharedOptions(
    program
      .command('oracle')
      .description('what the oracle log has under a key: the answer, and attempts that became none')
      .argument('<key>', '64 hex digits, as observations and assize memory explain name them'),
  )
    .addHelpText(
      'after',
      '\nOf votes about what is believed the first 32 attempts are kept, without what was said: a code, and how long it was.\n' +
        'failed: who was asked threw, or took too long.\n' +
        'refused: the answer was none of those that are possible. superseded: another one was in the log first.\n' +
        'erased: an entry has erased what it was.',
    )
    .action(
      inSession(({ json, out, withStore }, _options: SharedOptions, given: string) =>
        withStore('readonly', async (store) => {
          const key = given.toLowerCase();
          if (!/^[0-9a-f]{64}$/.test(key))
            throw new CliError(
              'usage',
              'A key of the oracle log has 64 hex digits: assize show ENTRY has those of its observations, and assize memory explain that of a vote.',
            );
          const [row, attempts] = [await store.oracleGet(key), await attemptsOf(store, key)];
          if (row === undefined && attempts.length === 0)
            throw new CliError('not_found', `The oracle log of this store has nothing under ${key}.`);
          const by = row?.erased_by;
          const answer = row === undefined || by !== undefined ? undefined : (JSON.parse(row.answer) as unknown);
          if (json) {
            const found = row && (by === undefined ? { answer, at: row.at } : { erased_by: by });
            out.document({ key, ...found, attempts });
          } else {
            if (row === undefined) out.line(line`not answered yet`);
            else if (by !== undefined) out.line(line`the answer was erased by ${shortId(by)}`);
            else out.line(line`answered ${shortTime(row.at)}: ${bold(shortJson(answer as never, ANSWER_MAX))}`);
            if (attempts.length > 0)
              out.table(
                [{ title: 'at' }, { title: 'attempt' }, { title: 'what' }],
                attempts.map((attempt) => [shortTime(attempt.at), attempt.outcome, toldOf(attempt)]),
              );
          }
          return EXIT.ok;
        }),
      ),
    );
}

function toldOf({ answer, length, error }: Attempt): string {
  const given = answer === undefined ? (length === undefined ? [] : [`${length} characters`]) : [shortJson(answer)];
  if (error === undefined) return given.join();
  const { code = 'an error', message = error.length === undefined ? '' : `a message of ${error.length} characters` } =
    error;
  return [...given, code, message].filter((part) => part !== '').join(': ');
}
