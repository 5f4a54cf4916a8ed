import { existsSync } from 'node:fs';
import { CliError, readText, replaceFile } from '@assize/command';
import type { Instant } from 'assize/internal/canon';
import { type LedgerStore, Replayer } from 'assize/internal/ledger';
import { isSeq, parseDocument } from 'yaml';
import { newestFirst } from '#calls';
import { type CallArgs, readCases } from '#gateway';
import { casesFileOf } from '../rules-files.ts';

interface Marked {
  readonly call: string;
  /** The rules file, beside which the cases are. */
  readonly file: string;
  readonly since: Instant;
}

/**
 * Adds a recorded call to the cases of a rules file, as one that is let through. Returns the file
 * of the cases.
 *
 * @throws CliError `not_found`, `bad_input`
 */
export async function markFalseAlarm(
  store: LedgerStore,
  trajectoryIds: readonly string[],
  { call, file, since }: Marked,
): Promise<string> {
  const step = await recordedStep(store, trajectoryIds, call, since);
  const cases = casesFileOf(file);
  const text = existsSync(cases) ? readText(cases) : 'cases: []\n';
  readCases(text, cases);
  const document = parseDocument(text);
  const list = document.get('cases', true);
  const added = document.createNode({ name: `false alarm ${call}`, steps: [step] });
  if (isSeq(list)) {
    list.flow = false;
    list.add(added);
  }
  const written = document.toString({ lineWidth: 0 });
  readCases(written, cases);
  replaceFile(cases, written);
  return cases;
}

async function recordedStep(
  store: LedgerStore,
  trajectoryIds: readonly string[],
  call: string,
  since: Instant,
): Promise<object> {
  const { values } = new Replayer(store);
  for (const id of trajectoryIds) {
    for await (const { payload } of newestFirst(store, id, since)) {
      const action =
        payload.kind === 'commit'
          ? payload.action
          : payload.kind === 'pending_approval' && 'proposal' in payload
            ? payload.proposal.action
            : undefined;
      if (action?.name !== 'call') continue;
      const read = await values.read(payload, action.args);
      const args = ('value' in read ? read.value : {}) as unknown as Recorded;
      if (args.id !== call) continue;
      const { parts, project } = args;
      return {
        ...writtenPart(args),
        ...(parts && { parts: parts.map(writtenPart) }),
        ...(project !== undefined && { project }),
        agent: action.role.params['agent'],
        expect: 'allow',
      };
    }
  }
  throw new CliError(
    'not_found',
    `No call ${call} is recorded there. List calls with assize rules report, and pass an earlier --since.`,
  );
}

type RecordedPart = Pick<CallArgs, 'server' | 'tool' | 'args' | 'reaches'>;
type Recorded = RecordedPart & Pick<CallArgs, 'id' | 'parts' | 'project'>;

function writtenPart({ server, tool, args, reaches }: RecordedPart): object {
  return { call: `${server}/${tool}`, args, ...(reaches && { reaches }) };
}
