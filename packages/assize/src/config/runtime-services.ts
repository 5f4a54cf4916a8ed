import type { MemoryRuntimeOptions } from '#runtime';
import type { MemoryConfig } from './config.ts';

/** The services that the runtime calls. A model of the config reads messages, above the runtime. */
export function runtimeServices({ judge, embedder }: MemoryConfig): MemoryRuntimeOptions {
  return { ...(judge !== undefined && { judge }), ...(embedder !== undefined && { embedder }) };
}
