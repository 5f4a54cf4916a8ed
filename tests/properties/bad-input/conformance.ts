import type { Case, Exempt } from './case.ts';
import { exempt, MADE } from './table.ts';

export const CONFORMANCE: Readonly<Record<string, Case | Exempt>> = {
  runConformance: exempt(
    'starts the command that it is given: its own tests refuse other arguments',
  ),
  sendEffect: exempt('asks the server that it is given: its own tests refuse other arguments'),
  serveDriver: exempt('serves standard input; its end ends the process'),
  cellOf: exempt(MADE),
  conformanceMarkdown: exempt(MADE),
  unjudgedReport: exempt(MADE),
};
