import * as conformance from '#conformance';
import type { Case, Exempt } from './case.ts';
import { exempt, MADE, takes } from './table.ts';

const effect = () => ({ run: 'r', call: 'p1', tool: 'pay', args: { cents: 5 }, key: 'k' });

export const CONFORMANCE: Readonly<Record<string, Case | Exempt>> = {
  runConformance: takes(conformance.runConformance as never, () => [
    { driver: ['/no/such/program'], cwd: '/', scenarios: ['expired'], timeoutMs: 50, onVerdict: () => undefined },
  ]),
  sendEffect: takes(conformance.sendEffect as never, () => ['http://127.0.0.1:9', effect(), { timeoutMs: 50 }]),
  serveDriver: exempt('serves standard input, which ends the process'),
  cellOf: exempt(MADE),
  conformanceMarkdown: exempt(MADE),
};
