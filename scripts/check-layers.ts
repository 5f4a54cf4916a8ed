import { violations } from './layers.ts';

const found = violations(process.cwd());
for (const { file, specifier, why } of found) console.error(`${file}: ${specifier}: ${why}`);
console.log(
  found.length === 0 ? 'Every import follows the reading order.' : `${found.length} imports break the reading order.`,
);
process.exitCode = found.length === 0 ? 0 : 1;
