import { checkMixedSchedules } from './mixed-schedules.ts';

checkMixedSchedules('mixed schedules', 24, 1_000);
