import {
  CliError,
  ENTRY_HELP,
  EXIT,
  entryNamed,
  green,
  inSession,
  isFile,
  isPrefix,
  line,
  readBytes,
  red,
  replaceFile,
  type Session,
  type SharedOptions,
  withSharedOptions,
} from '@assize/command';
import { isAssizeError, type Json } from 'assize/internal/base';
import { canonicalize, parseStrict, WORLD_LIMITS } from 'assize/internal/canon';
import { checkRow, isPayload, type LedgerStore } from 'assize/internal/ledger';
import { verifyProofFile } from 'assize/internal/merkle';
import { counted, shortId } from 'assize/internal/views';
import type { Command } from 'commander';
import { proveEntry, readCheckpoint } from '#checkpoints';
import { checkpointOption, lastCheckpoint, logKeyOption, readKnownLog } from './log-files.ts';

interface ProveOptions extends SharedOptions {
  readonly logKey: readonly string[];
  readonly checkpoint?: string;
  readonly out?: string;
  readonly verify?: string;
}

export function prove(program: Command): void {
  withSharedOptions(
    program
      .command('proof')
      .description('create or verify a proof that an entry is in the log')
      .argument('<entry>', `${ENTRY_HELP}; with --verify also a file with the entry`)
      .addOption(checkpointOption)
      .addOption(logKeyOption)
      .option(
        '--out <file>',
        'write the proof (c2sp.org/tlog-proof) to a file instead of printing it',
      )
      .option(
        '--verify <file>',
        'verify this proof file instead of creating one; needs no store if the entry is a file',
      ),
  )
    .addHelpText(
      'after',
      'The file of an entry has its payload, or the output of assize show ENTRY --json. Spaces do not matter.\n' +
        'Negative: the proof is not valid.',
    )
    .action(
      inSession(async (session, options: ProveOptions, entry: string) => {
        const log = readKnownLog(session.storeUrl, options.logKey);
        if (options.verify !== undefined) return verified(session, options.verify, entry, log);
        return session.withStore('readonly', async (store) => {
          const row = await entryNamed(store, entry);
          const signed = await lastCheckpoint(session.storeUrl, options.checkpoint);
          if (signed === undefined) {
            throw new CliError(
              'not_found',
              'The log has no checkpoint for the proof. Create one with assize checkpoint.',
            );
          }
          const { origin } = readCheckpoint(signed, log).checkpoint;
          const proof = await proveEntry(store, row.id, signed, log);
          if (options.out !== undefined) replaceFile(options.out, proof);
          if (session.json)
            session.out.document({
              id: row.id,
              log: origin,
              proof,
              ...(options.out === undefined ? {} : { file: options.out }),
            });
          else if (options.out === undefined) await session.out.piece(proof);
          else
            session.out.line(
              line`${shortId(row.id)} is in the log of ${origin}: the proof is in ${options.out}`,
            );
          return EXIT.ok;
        });
      }),
    );
}

async function verified(
  session: Session,
  file: string,
  entry: string,
  log: ReturnType<typeof readKnownLog>,
): Promise<number> {
  const proof = readBytes(file, 'The proof', 'Create one with assize bundle proof');
  const payload =
    isPrefix(entry) || (entry.includes('@') && !isFile(entry))
      ? await session.withStore('readonly', (store) => wholePayload(store, entry))
      : payloadIn(entry);
  const verdict = verifyProofFile(proof, payload, { log, witnesses: [], quorum: 0 });
  const said = verdict.valid
    ? {
        valid: true,
        index: Number(verdict.index),
        size: Number(verdict.checkpoint.size),
        log: verdict.checkpoint.origin,
      }
    : { valid: false, reason: verdict.reason, detail: verdict.detail };
  if (session.json) session.out.document(said);
  else if (verdict.valid) {
    session.out.line(
      green(
        line`The entry has index ${Number(verdict.index)} in the ${counted(Number(verdict.checkpoint.size), 'entry')} signed by ${verdict.checkpoint.origin}.`,
      ),
    );
  } else session.out.line(red(line`The proof is not valid: ${verdict.detail}`));
  return verdict.valid ? EXIT.ok : EXIT.negative;
}

/**
 * The stored form of the payload in a file. Another layout of the same values is not a fault of
 * the proof.
 * @throws CliError
 */
function payloadIn(file: string): string {
  const bytes = readBytes(file, 'The entry', 'Pass its id, or a file with the entry');
  const json = jsonOf(bytes);
  // The document of `assize show --json` has the payload as a member.
  const payload = [json, (json as { readonly payload?: Json } | null | undefined)?.payload].find(
    isPayload,
  );
  if (payload === undefined)
    throw new CliError(
      'bad_input',
      `${file} is not an entry. Write it with assize show ENTRY --json.`,
    );
  return canonicalize(payload);
}

/** Undefined for a text that is not JSON. */
function jsonOf(bytes: Uint8Array): Json | undefined {
  try {
    return parseStrict(bytes, WORLD_LIMITS);
  } catch (error) {
    if (isAssizeError(error)) return undefined;
    throw error;
  }
}

/**
 * An entry that does not hash to its id has no proof.
 * @throws CliError, LedgerFault
 */
async function wholePayload(store: LedgerStore, text: string): Promise<string> {
  const row = await entryNamed(store, text);
  checkRow(row);
  return row.payload;
}
