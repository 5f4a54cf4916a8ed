import { symlinkSync } from 'node:fs';
import { join } from 'node:path';

const modules = join(import.meta.dirname, '../../../node_modules');

/** The folders of this clone that an outside project has in `node_modules`, by name. */
export const PACKAGES: Readonly<Record<string, string>> = {
  assize: join(modules, 'assize'),
  '@assize': join(modules, '@assize'),
};

/** Lets the programs of a folder import the packages of this clone. */
export function linkPackages(into: string): void {
  for (const [name, folder] of Object.entries(PACKAGES)) symlinkSync(folder, join(into, name));
}
