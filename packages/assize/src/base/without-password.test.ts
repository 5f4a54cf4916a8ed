import { describe, expect, test } from 'vitest';
import { withoutPassword } from './without-password.ts';

describe('a URL without its password', () => {
  test.each([
    [
      'postgres://ann:hunter2@db.example:5432/app?schema=a',
      'postgres://ann@db.example:5432/app?schema=a',
    ],
    ['postgresql://ann:hunter2@db.example/app', 'postgresql://ann@db.example/app'],
    ['postgres://:hunter2@db.example/app', 'postgres://@db.example/app'],
    ['postgres://ann:hun/ter@2@db.example/app', 'postgres://ann@db.example/app'],
    ['postgres://ann:hun?ter#2@db.example/app', 'postgres://ann@db.example/app'],
    ['postgres://ann:hun ter2@db.example/app', 'postgres://ann@db.example/app'],
    ['postgres://db/app?user=ann&password=hunter2&schema=a', 'postgres://db/app?user=ann&schema=a'],
    ['postgres://db/app?pass%77ord=hunter2', 'postgres://db/app'],
    ['postgres://db/app?sslpassword=hunter2&sslmode=require', 'postgres://db/app?sslmode=require'],
    ['postgres:ann:hunter2@db.example/app', 'postgres:ann@db.example/app'],
    ['postgres:/ann:hunter2@db.example/app', 'postgres:/ann@db.example/app'],
    ['POSTGRES://ann:hunter2@db.example/app', 'POSTGRES://ann@db.example/app'],
    ['https://ann:hunter2@witness.example/', 'https://ann@witness.example/'],
    ['--stor=postgres://ann:hunter2@db/app', '--stor=postgres://ann@db/app'],
    ["unknown command 'postgres://ann:hunter2@db/app'", "unknown command 'postgres://ann@db/app'"],
  ])('%s', (url, shown) => {
    expect(withoutPassword(url)).toBe(shown);
    expect(withoutPassword(shown)).toBe(shown);
  });

  test.each([
    'postgres://ann@db.example:5432/app?schema=a',
    'postgres:///app?host=/run/postgresql',
    'sqlite:./a:b@c.db',
    'memory:',
    'http://127.0.0.1:8080/witness',
    'file:///srv/@scope/module.js:3:7@x',
    'no URL at all: ann@example.com',
  ])('stays where it has none: %s', (text) => expect(withoutPassword(text)).toBe(text));
});
