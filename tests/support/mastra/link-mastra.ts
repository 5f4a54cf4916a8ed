import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { linkPackages } from '../process/link-packages.ts';
import { MASTRA_MODULES } from './packages.ts';

const root = join(import.meta.dirname, '../../..');

/** Makes a folder a project that has Assize and Mastra. */
export function linkMastra(folder: string): void {
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  mkdirSync(join(folder, 'node_modules'));
  linkPackages(join(folder, 'node_modules'));
  symlinkSync(join(root, 'node_modules/zod'), join(folder, 'node_modules/zod'));
  symlinkSync(join(MASTRA_MODULES, '@mastra'), join(folder, 'node_modules/@mastra'));
}
