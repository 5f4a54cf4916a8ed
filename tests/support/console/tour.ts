import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BankLine, readBankLog } from '../../../packages/cli/src/tour/bank.ts';
import { BANK_LOG } from '../../../packages/cli/src/tour/tour-files.ts';
import { startServer } from '../process/listening-server.ts';

type Payment = Extract<BankLine, { readonly does: 'pays' }>;

/** A running tour, as `npm start` serves it, in a folder of its own. */
export interface Tour {
  readonly url: string;
  /** The folder with its files. */
  readonly folder: string;
  /** The links of its text. Each signs in once. */
  readonly links: { readonly manager: string; readonly auditor: string };
  /** The place of the only payment with a ruling, in the world `expenses`. */
  seqOf(ruling: 'rejected' | 'escalated'): number;
  /** Sends a request, by default as the auditor, who is an administrator too. */
  ask(
    method: string,
    path: string,
    more?: { readonly as?: 'manager'; readonly body?: object },
  ): Promise<unknown>;
  /** The payments that the bank has made, by its own log. */
  payments(): readonly Payment[];
  end(): Promise<void>;
}

/** The last words of the text of a tour. */
const LAST = 'last_event_id=-1';

export async function startTour(): Promise<Tour> {
  const folder = mkdtempSync(join(tmpdir(), 'assize-tour-'));
  const server = await startServer(folder, ['--tour', '--port', '0'], { last: LAST });
  const linkOf = (name: string): string =>
    new RegExp(`^ {2}${name} +(\\S+)$`, 'm').exec(server.printed())?.[1] as string;
  return {
    ...{ url: server.url, folder },
    links: { manager: linkOf('manager:grace'), auditor: linkOf('auditor:iris') },
    seqOf: (ruling) => Number(new RegExp(`^ +#(\\d+) ${ruling}`, 'm').exec(server.printed())?.[1]),
    ask: async (method, path, { as = 'auditor', body } = {}) => {
      const [name = '', value = ''] = readFileSync(join(folder, `assize-tour.db.${as}`), 'utf8')
        .trim()
        .split(': ');
      const headers = {
        [name]: value,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      };
      const answer = await fetch(server.url + path, {
        ...{ method, headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      if (!answer.ok) throw new Error(`${method} ${path} failed: ${await answer.text()}`);
      return answer.json();
    },
    payments: () =>
      readBankLog(join(folder, BANK_LOG)).flatMap((line) => (line.does === 'pays' ? [line] : [])),
    end: async () => {
      await server.end('SIGKILL');
      rmSync(folder, { recursive: true });
    },
  };
}
