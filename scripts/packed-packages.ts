/**
 * Packs the built packages, and checks what npm would publish: the files and the size of each
 * tarball, its manifest, and what bundlers and TypeScript make of its entries.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';

/** Bytes of the tarball of a package at most. */
const MOST_BYTES = 1_500_000;
/** The pages of the documentation have pictures and an index for the search. */
const MOST_DOCS_BYTES = 7_000_000;
/** Of packages of code. */
const UNWANTED = /\.(?:map|png|jpe?g|gif|webp)$|\.test\.|(?:^|\/)(?:tests?|clients)\//;
const SITES = ['@assize/console', '@assize/docs'];
const NAME = /^(?:assize|create-assize|@assize\/[a-z-]+)$/;
const LICENSES = /^(?:MIT|ISC|0BSD|Apache-2\.0|BSD-[23]-Clause|BlueOak-1\.0\.0)$/;

interface Packed {
  readonly name: string;
  readonly filename: string;
  readonly size: number;
  readonly files: readonly { readonly path: string }[];
}

/** Packs folders into `to`. Returns the size of each package, and every fault. */
export async function packPackages(
  folders: readonly string[],
  { to, repository }: { readonly to: string; readonly repository: string },
): Promise<{ readonly sizes: readonly [string, number][]; readonly problems: readonly string[] }> {
  const sizes: [string, number][] = [];
  const problems: string[] = [];
  for (const folder of folders) {
    const [packed] = npmJson(['pack', '--json', '--pack-destination', to], folder) as [Packed];
    const tarball = new Uint8Array(readFileSync(join(to, packed.filename)));
    sizes.push([packed.name, packed.size]);
    const faults = [
      ...manifestFaults(folder, repository),
      ...fileFaults(packed),
      ...(await entryFaults(tarball)),
    ];
    problems.push(...faults.map((fault) => `${packed.name}: ${fault}`));
  }
  return { sizes, problems };
}

/** The bill of materials (CycloneDX) of what the packages need, and each other licence in it. */
export function billOfMaterials(root: string): {
  readonly text: string;
  readonly problems: readonly string[];
} {
  const lists = ['--sbom-format', 'cyclonedx', '--omit', 'dev', '--package-lock-only'];
  const bill = npmJson(['sbom', ...lists], root) as {
    readonly components: readonly {
      readonly 'bom-ref': string;
      readonly purl: string;
      readonly licenses?: readonly { readonly license?: { readonly id?: string } }[];
    }[];
  };
  const problems = bill.components.flatMap(({ 'bom-ref': name, licenses = [] }) =>
    licenses
      .map(({ license }) => license?.id ?? 'none')
      .filter((id) => !LICENSES.test(id))
      .map((id) => `${name} has the licence ${id}. Replace it, or list that licence as accepted.`),
  );
  return { text: `${JSON.stringify(bill, null, 2)}\n`, problems };
}

function manifestFaults(folder: string, url: string): string[] {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const { name, license, repository, publishConfig } = manifest;
  return [
    ...(NAME.test(name) ? [] : [`${name} is not a name of this family.`]),
    ...(license === 'Apache-2.0' ? [] : [`the licence is ${license}, not Apache-2.0.`]),
    // npm refuses provenance of another repository than that of the workflow.
    ...(repository?.url === url ? [] : [`the repository is ${repository?.url}, not ${url}.`]),
    ...(publishConfig?.provenance === true ? [] : ['publishConfig does not ask for provenance.']),
  ];
}

function fileFaults({ name, size, files }: Packed): string[] {
  const most = name === '@assize/docs' ? MOST_DOCS_BYTES : MOST_BYTES;
  const paths = files.map(({ path }) => path);
  return [
    ...(size <= most ? [] : [`${size} bytes packed exceed ${most}.`]),
    ...(paths.includes('LICENSE') ? [] : ['LICENSE is missing.']),
    ...paths
      .filter((path) => !SITES.includes(name) && UNWANTED.test(path))
      .map((path) => `${path} is in the tarball.`),
  ];
}

/** The faults that publint and the check of types find. The packages have no CommonJS. */
async function entryFaults(tarball: Uint8Array<ArrayBuffer>): Promise<string[]> {
  const { messages, pkg } = await publint({
    level: 'warning',
    pack: { tarball: tarball.buffer },
  });
  const types = await checkPackage(createPackageFromTarballData(tarball), {
    // Imported for what it does: it has no names.
    excludeEntrypoints: ['./bin'],
  });
  const kinds = (types.types === false ? [] : types.problems).filter(
    (problem) =>
      !('resolutionKind' in problem && /node10|cjs/.test(problem.resolutionKind)) &&
      problem.kind !== 'CJSResolvesToESM',
  );
  return [
    ...messages.map((message) => `publint: ${formatMessage(message, pkg)}`),
    ...kinds.map((problem) => `types: ${JSON.stringify(problem)}`),
  ];
}

function npmJson(args: readonly string[], cwd: string): unknown {
  const stdio: ['ignore', 'pipe', 'ignore'] = ['ignore', 'pipe', 'ignore'];
  return JSON.parse(
    execFileSync('npm', args, { cwd, encoding: 'utf8', maxBuffer: 1 << 28, stdio }),
  );
}
