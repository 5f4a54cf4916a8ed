import type { Exempt } from './case.ts';
import { exempt } from './table.ts';

const SHARED = 'no entry of the package: the integrations call it with what they have checked';

export const TOOL_CALLS: Readonly<Record<string, Exempt>> = {
  makeOptions: exempt(SHARED),
  interimText: exempt(SHARED),
  isInterimText: exempt(SHARED),
  waitsText: exempt(SHARED),
  notKept: exempt(SHARED),
  personOf: exempt(SHARED),
  runTool: exempt(SHARED),
};
