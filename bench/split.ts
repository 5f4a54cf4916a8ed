import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Assize, type Domain, generateKeys, openStore } from 'assize';
import { declareTool } from 'assize/effects';
import { z } from 'zod';
import { benchWrit, shop, shopState, visit } from './shop.ts';
const kind = process.argv[2] ?? 'keyed.buffered';
const N = Number(process.argv[3] ?? 40000), C = Number(process.argv[4] ?? 16);
const folder = mkdtempSync(join(tmpdir(), 'split-'));
const [sink, delivery] = kind.split('.') as any;

const writer = (process.argv[6] ?? 'thread') as 'thread' | 'inline';
const store = await openStore(`sqlite:${join(folder, 'a.db')}`, { writer });
const keys = generateKeys();
const tool = declareTool({ name: kind, input: z.strictObject({ member: z.string(), text: z.string() }), class: { reversibility: 'reversible', delivery, sink }, writes: ['bench:{member}'], execute: () => null, compensate: () => ({ undone: 'all' }) });
const assize = new Assize({ store, domains: [shop as Domain], anchors: [keys.publicKey], tools: [tool] });
const writ = benchWrit(keys, 't', ['**'], ['**']);
const t = await assize.create(shop as Domain, { trajectoryId: 't', initial: shopState(1000), writs: [writ] });
let n = 0;
const act = async () => {
  const i = n++; const intent = visit(i, 1000); const { member } = intent.role.params;
  if (process.argv[5] === 'plain') { await t.propose({ ...intent, writ }); return; }
  const { ruling } = await t.transaction({ writ, writes: [`bench:${member}`] }, async (tx) => { await tx.call(kind, { member, text: `visit ${i}, 0` }); tx.propose(intent); });
  if (ruling.ruling !== 'committed') throw new Error(ruling.ruling);
};
const run = async (count: number) => { let left = count; await Promise.all(Array.from({ length: C }, async () => { while (left-- > 0) await act(); })); };
await run(10); console.log('ten'); await run(N / 2); console.log('warm');
const g = globalThis as any;
for (let r = 0; r < 3; r++) {
  g.turnMs = 0; g.turns = 0; g.commitMs = 0; const cpu = process.cpuUsage(); const elu = performance.eventLoopUtilization(); const t0 = performance.now();
  await run(N); const ms = performance.now() - t0; const u = process.cpuUsage(cpu); const e = performance.eventLoopUtilization(elu);
  console.log(`main busy ${(e.utilization*100).toFixed(0)} ${(N / ms * 1000).toFixed(0)}/s ${(ms * 1000 / N).toFixed(1)}us/tx; cpu ${((u.user + u.system) / N).toFixed(1)}`);
}
await assize.close(); await store.close(); rmSync(folder, { recursive: true });
