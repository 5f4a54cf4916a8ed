#!/usr/bin/env node
import { run } from '@assize/cli/internal/program.ts';
import { EXPERIMENTS } from './program.ts';

process.exitCode = await run(process.argv.slice(2), EXPERIMENTS);
