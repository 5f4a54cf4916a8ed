import { rmSync } from 'node:fs';
import type { CallContext, Delivery, Tool } from 'assize/internal/effects';
import { onTestFinished } from 'vitest';
import { newFolder, put } from '../../../../tests/support/tools/files-stage.ts';
import type { Disk } from '../../src/files/disk.ts';
import { fileTools } from '../../src/files/file-tools.ts';
import { hashOf } from '../../src/files/operations.ts';

/** A folder with these files. It is removed after the test. */
export function folder(files: Readonly<Record<string, string>> = {}): string {
  const root = newFolder();
  onTestFinished(() => rmSync(root, { recursive: true }));
  for (const [path, content] of Object.entries(files)) put(root, path, content);
  return root;
}

/** File tools, each called by itself as a runtime would. */
export function calling(
  root: string,
  delivery: Delivery = 'externalised',
  disk: (disk: Disk) => Disk = (same) => same,
) {
  const tools = new Map(
    fileTools({ root, delivery, bytesMax: 1_000, disk }).map((tool) => [tool.name, tool]),
  );
  const of = (name: string): Tool => tools.get(`files.${name}`)!;
  const call = (key: string, epoch = 1): CallContext => ({
    key,
    epoch,
    signal: new AbortController().signal,
  });
  return {
    of,
    run: async (name: string, input: unknown, key = name, epoch = 1) =>
      of(name).spec.execute(of(name).parse(input), call(key, epoch), []),
    undo: async (name: string, input: unknown, key = name) =>
      of(name).spec.compensate!(of(name).parse(input), null, call(key)),
    ask: async (name: string, input: unknown, key = name) =>
      of(name).spec.reconcile!(of(name).parse(input), call(key)),
  };
}

export const hash = (text: string): string => hashOf(Buffer.from(text));
