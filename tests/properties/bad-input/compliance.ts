import { MemoryStore } from '@assize/testing/memory';
import * as compliance from '#compliance';
import { integrateLog } from '#ledger';
import { checkpointOf } from '../../support/ledger/report-ledgers.ts';
import { everyKind, keysOf } from '../../support/ledger/rows.ts';
import type { Case, Exempt } from './case.ts';
import { exempt, MADE, PORT, takes } from './table.ts';

const store = new MemoryStore();
const { rows, blobs } = everyKind(keysOf(5));
for (const row of rows) await store.commit({ entries: [row], blobs });
const size = await integrateLog(store);
const { signed, log, witnesses } = await checkpointOf(store);
const report = await compliance.makeReport(store);
const plain = ({ name, use, id, publicKey }: any): any => ({ name, use, id, publicKey });
const checkpoint = {
  signed,
  log: { ...log, keys: log.keys.map(plain) },
  witnesses: witnesses.map(plain),
};
const options = {
  ...{ frameworks: ['eu-ai-act'], trajectories: [rows[0]!.trajectory_id], size, checkpoint },
  ...{ since: '2026-01-01T00:00:00.000000Z', until: '2027-01-01T00:00:00.000000Z' },
};

export const COMPLIANCE: Readonly<Record<string, Case | Exempt>> = {
  emptyText: exempt(MADE),
  makeReport: takes(compliance.makeReport, () => [store, options], { '0': PORT }),
  reportHtml: takes(compliance.reportHtml, () => [structuredClone(report)]),
  reportMarkdown: takes(compliance.reportMarkdown, () => [structuredClone(report)]),
};
