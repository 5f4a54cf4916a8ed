import { checkMixedSchedules } from './mixed-schedules.ts';

checkMixedSchedules('long mixed schedules', 60, 1_000);
