import { parentPort } from 'node:worker_threads';
import { type Compiled, compiled } from './compile.ts';
import type { AskedOfSchema, SchemaAnswer } from './schema-thread.ts';

const KNOWN_MAX = 1_000;
const known = new Map<string, Compiled>();

// The libraries and the schemas of two drafts are loaded before the first budget begins.
for (const $schema of [
  'https://json-schema.org/draft/2020-12/schema',
  'http://json-schema.org/draft-07/schema',
])
  compiled({ $schema }, { isOnlyCheck: false });

parentPort?.on('message', ({ key, schema, value }: AskedOfSchema) => {
  const { unusable, faultOf } = known.get(key) ?? compiled(schema, { isOnlyCheck: false });
  if (known.size >= KNOWN_MAX) known.clear();
  known.set(key, unusable === undefined ? { faultOf } : { unusable });
  const fault = value === undefined ? undefined : faultOf?.(value);
  parentPort?.postMessage({ unusable, fault } satisfies SchemaAnswer);
});
parentPort?.postMessage('ready');
