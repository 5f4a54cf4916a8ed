/** clients/python as a wheel, built without a network by setuptools as Debian has it. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { pythonWithWheel } from '../support/process/python-verifier.ts';

const root = join(import.meta.dirname, '../..');
const USE = `
import importlib.metadata, sys
sys.path.insert(0, sys.argv[1])
import assize
client = assize.Client("http://127.0.0.1:1", "token")
print(importlib.metadata.version("assize"), assize.__file__.startswith(sys.argv[1]),
      *(hasattr(part, name) for part, name in [
          (client, "events"), (client.proposals, "judge"), (client.proposals, "create_many")]))
`;

test.skipIf(pythonWithWheel === undefined)(
  'the client in Python is a wheel of code and types alone',
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'assize-wheel-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    // setuptools writes beside the sources.
    const sources = join(folder, 'sources');
    cpSync(join(root, 'clients/python'), sources, { recursive: true });
    const run = (...args: readonly string[]): string =>
      execFileSync(pythonWithWheel!, ['-I', ...args], {
        cwd: sources,
        encoding: 'utf8',
        stdio: 'pipe',
      });
    mkdirSync(join(folder, 'wheels'));
    const build =
      'import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])';
    run('-c', build, join(folder, 'wheels'));

    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      version: string;
    };
    const wheel = `assize-${version}-py3-none-any.whl`;
    expect(readdirSync(join(folder, 'wheels'))).toEqual([wheel]);
    const installed = join(folder, 'installed');
    run('-m', 'zipfile', '-e', join(folder, 'wheels', wheel), installed);
    expect(readdirSync(installed).sort()).toEqual(['assize', `assize-${version}.dist-info`]);
    const source = readdirSync(join(root, 'clients/python/assize')).filter(
      (name) => name !== '__pycache__',
    );
    expect(readdirSync(join(installed, 'assize')).sort()).toEqual(source.sort());
    expect(run('-c', USE, installed).trim()).toBe(`${version} True True True True`);
  },
);
