import { circles, violations } from './layers.ts';

const root = process.cwd();
const broken = violations(root);
for (const { file, specifier, why } of broken) console.error(`${file}: ${specifier}: ${why}`);
const found = circles(root);
for (const files of found) console.error(`These files import each other:\n  ${files.join('\n  ')}`);
console.log(
  broken.length === 0
    ? 'Every import follows the reading order.'
    : `${broken.length} imports break the reading order.`,
);
console.log(
  found.length === 0
    ? 'No files import each other in a circle.'
    : `${found.length} circles of imports.`,
);
process.exitCode = broken.length + found.length === 0 ? 0 : 1;
