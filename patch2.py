import re
exec(open('patch.py').read().split("lean='''")[0])
lean=open('patch.py').read().split("lean='''")[1].split("'''")[0]
ms='''export const checks = Schedule.makeWithState(undefined, (now, pause, state) => Effect.map(Random.next, (random) => [state, pause, ScheduleDecision.continueWith(ScheduleInterval.after(now + untilCheck(pause, now, random)))]));
'''
for v in ['v4a','v4b','v4c','v4d']:
    s=load(v,'provider.js')
    s=re.sub(r'const refreshIfStale = .*?\n\}\);\n',lambda m:lean,s,flags=re.S)
    body={'v4a':None,'v4b':'Effect.flatMap(Schedule.driver(checks), (driver) => Effect.forever(Effect.flatMap(refreshIfStale(tokens), driver.next)))','v4c':'Effect.repeat(refreshIfStale(tokens), checks)','v4d':'Effect.iterate(0,{while:()=>true,body:()=>Effect.flatMap(refreshIfStale(tokens), untilNextCheck)})'}[v]
    if body: s=s.replace('Effect.forever(Effect.flatMap(refreshIfStale(tokens), untilNextCheck))',body).replace('import { longestPause','import * as Schedule from "effect/Schedule";\nimport { checks, longestPause')
    save(v,'provider.js',s)
    s=load(v,'delays.js')
    i=s.index('export const checks'); j=s.index('/**',i)
    s=s[:i]+ms+s[j:]
    s=s.replace('import * as ScheduleDecision','import * as ScheduleInterval from "effect/ScheduleInterval";\nimport * as ScheduleDecision')
    save(v,'delays.js',s)
