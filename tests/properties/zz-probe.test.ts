import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineDomain, each, escalate, invariant, pass, reject } from '#kernel';
import { Replayer, verifyTrajectory } from '#ledger';
import { MemoryStore } from '#stores';
import { intent, runtimeOver, writFor } from '../support/runtime.ts';

process.on('unhandledRejection', (e) => console.log('UNHANDLED', String(e)));

async function go(apply: any, opts: any = {}) {
  const domain = defineDomain({
    name: 'probe', version: '1', state: z.object({ list: z.array(z.any()), a: z.any(), n: z.number() }),
    initial: opts.initial ?? { list: [1, 2, 3], a: { b: 1 }, n: 0 },
    processes: { p: { writes: opts.writes ?? ['/list', '/a', '/n'] } }, roles: { worker: { processes: ['p'] } },
    actions: { act: { process: 'p', args: z.any(), apply, ...(opts.action ?? {}) } },
    invariants: opts.invariants ?? [], counselors: { md: (p: string) => p === 'doc' }, ...(opts.domain ?? {}),
  } as any);
  const store = new MemoryStore();
  const as = runtimeOver(store, [domain]);
  const t = await as.create(domain as any, { trajectoryId: 't' });
  const w = writFor('alice', opts.grant);
  const out = [];
  for (const args of opts.args ?? [null]) {
    try { const r = await t.propose(intent('act', args, w, opts.rest)); out.push(r); console.log(r.ruling, (r as any).reason, (r as any).detail); }
    catch (e) { out.push(e); console.log('THROW', String(e)); }
  }
  console.log('state', JSON.stringify(t.state()));
  try { const f = await new Replayer(store).replay('t'); console.log('fold ', JSON.stringify(f.fold.state)); } catch (e) { console.log('REPLAY', String(e)); }
  return { t, store, out, domain, as, w };
}
test('hole', async () => { await go((s: any) => { delete s.list[0]; }); await go((s: any) => { delete s.list[2]; }); });
test('leak', async () => { let k: any; const { t } = await go((s: any) => { k = s; s.n = 1; }); try { k.n = 77; k.a.b = 99; } catch (e) { console.log('leak refused', String(e)); } console.log(JSON.stringify(t.state())); });
test('async', async () => { const { t } = await go(async (s: any) => { s.n = 1; await 1; s.n = 55; throw new Error('later'); }); await new Promise((r) => setTimeout(r, 5)); console.log(JSON.stringify(t.state())); });
test('args', async () => { const { out } = await go((s: any, a: any, c: any) => { a.x = 9; c.observations[0].value.y = 3; s.n = 1; }, { args: [{ x: 1 }], rest: { observations: [{ name: 'o', value: { y: 1 } }] } }); console.log((out[0] as any).entry?.payload); });
test('deep', async () => { await go((s: any) => { let v: any = 1; for (let i = 0; i < 63; i++) v = { v }; s.a = v; }); });
test('surrogate', async () => { await go(() => { throw new Error('\ud83d'); }); await go((s: any) => { s.n = 1; }, { invariants: [invariant('X', ['/n'], (s: any) => s.n === 1 ? reject('\ud83d') : pass)] }); });
test('cost', async () => { for (const cost of [() => ({ usd: 1.5 }), () => ({ usd: -1 }), async () => ({}), () => null, () => 5]) await go((s: any) => { s.n = 1; }, { action: { cost } }); });
test('scopes', async () => { for (const scopes of [() => [5], () => 'ab', () => null, async () => ['x']]) await go((s: any) => { s.n = 1; }, { action: { scopes } }); });
test('argsparse', async () => { for (const args of [z.any().transform(() => { throw new Error('x'); }), z.any().transform(() => new Date()), z.any().transform(() => undefined), z.any().refine(async () => true)]) await go((s: any) => { s.n = 1; }, { action: { args } }); });
test('concurrent same key', async () => {
  const { t, w, store } = await go((s: any) => { s.n += 1; });
  const rs = await Promise.all([1, 2, 3].map(() => t.propose(intent('act', null, w, { idempotencyKey: 'k' }))));
  console.log(rs.map((r) => (r as any).entry.seq), JSON.stringify(t.state()));
});
test('assign return', async () => { await go((s: any) => Object.assign(s, { n: 4 })); await go((s: any) => { s.n = JSON.stringify(s).length; }); });
test('replacement', async () => {
  const dom = { freeze: 'footprint' };
  for (const patch of [{ op: 'replace', path: '/a', value: { b: 1, c: 2 } }, { op: 'test', path: '/a/b', value: 1 }, { op: 'replace', path: '/list/length', value: 0 }]) {
    const { t, out } = await go((s: any) => { s.a.b = 2; s.list.push(5); }, { writes: ['/a/b', '/list'], domain: dom, initial: { list: [1], a: { b: 1, c: 1 }, n: 0 }, invariants: [invariant('E', ['/a/b'], (s: any) => s.a.b === 2 ? escalate('look') : pass)] });
    try { const r = await t.approve((out[0] as any).pending, { principal: 'doc', method: 'test', replacement: [patch as any] }); console.log(patch, r.ruling, JSON.stringify(t.state())); } catch (e) { console.log(patch, String(e)); }
  }
});
test('big slice', async () => {
  const { t, w } = await go((s: any) => { s.a = 'x'.repeat(300_000) + s.n; s.list.push('y'.repeat(400_000)); s.n++; }, { args: [1, 2, 3, 4] });
  t.subscribe('worker', {}, () => console.log('pub'));
  console.log((await t.propose(intent('act', 1, w))).ruling);
});
test('big escalated', async () => {
  const { t, w } = await go((s: any) => { s.a = Array.from({ length: 5 }, () => 'x'.repeat(100_000)); s.list = Array.from({ length: 7 }, () => 'x'.repeat(100_000)); s.n = 1; }, { invariants: [invariant('E', ['/n'], (s: any) => s.n === 1 ? escalate('look') : pass)] });
  for (const p of t.pending()) try { console.log((await t.approve(p.id, { principal: 'doc', method: 'x', override: true })).ruling); } catch (e) { console.log(String(e).slice(0, 200)); }
});
