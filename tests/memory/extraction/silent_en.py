"""English messages as people type them that propose nothing: small talk, questions, commands, doubts, the words of others."""

from __future__ import annotations

# One a line.
NOT_WORTH_KEEPING = """\
hey there
good morning!
lol that's hilarious
thanks so much
ok cool
brb
ugh, Mondays
I'm exhausted
this bug is killing me
I love this song
I hate this code
I like it
do you remember my name?
what did we decide about the database?
should I use Redis?
Could we go with Postgres?
what's my goal again?
If we decided on Mongo, what breaks?
suppose I work at Google
maybe we should use Rust
I wonder if we need to refactor
He said we decided to use Java
My boss told me we're going with Oracle
The book says "always remember to breathe"
translate: 'I prefer tea over coffee'
write a function that remembers values
explain what 'from now on' means
run the tests
delete line 3
make it blue
use a for loop here
don't remember that
no need to remember this
never mind
we haven't decided yet
I didn't say I prefer tabs
just kidding, my name is Batman
I need coffee
I need your help
I have to go
I want to ask a question
I'm trying to understand this error
I want to know why it fails
my password is hunter2, remember it
remember the good old days
I remember learning Pascal
I always forget this
I'm a mess today
I'm just tired
always a pleasure
never gonna give you up
Note the second line of the output
stop
every time I run it, it crashes
save this file
write this down in the README
I'm in a meeting
I usually sleep late
we're going out
I'm trying to sleep
> remember to use tabs
how do I use Vim?
we picked up some pizza
I'm more tired than yesterday
Whenever I open it, it freezes
are we using GraphQL?
how's it going
nice work!
I'm bored
this is so annoying
I can't believe it broke again
which one do you prefer?
do we need to migrate?
what would you use?
if I were called Bob, would it matter?
assume my name is X
let's say we decided on Go
she works at Google
they decided to use PHP
the docs say you must always call close()
convert this to TypeScript
use tabs here
rename it to foo
switch to the other branch
we're switching seats
I joined the call late
I'm a fan
I'm a little confused
I'm lost
I'm done
it's done
we're done here
I like pizza
I love you
don't forget me
always look on the bright side
from now on it's downhill
forget it
I was wrong about you
no worries
I want to sleep
I need a minute
I'm trying my best this year
my name is on the list
my dog is sick
I'm 5 minutes late
I'm here, a bit late
final answer: 42
the build is waiting for a runner
I'm always tired
I usually wake up at 7
stop saying that
I use it every day
I use this a lot
I use my phone
we use what works
I have a dog
I have two questions
I have one problem
I speak too fast
I want your help
I want your opinion on this
I'd like your code review
I'm blind to this
note: this is untested
Note the typo
reminder: what time is it?
save this: no
decided yet?
settled, thanks
we picked a bad day
we selected the wrong row
we're dropping by later
we're adopting a cat
I'm planning to sleep this weekend
I hope you're well this year
every time you answer, you ignore me
when you run it, it fails
stop it
stop using my time
no, the problem is you
wait, no
oh, it's fine
just fixed it
already sent
got it working
the login page is waiting for you
I can't finish this
I always use too much salt
I only write on weekends
I'm Tired, a bit
my cat is called crazy by everyone
my boss's name is irrelevant
I'm going to switch tabs
never say never
you should always smile
the meeting moved to Friday?
he joined Google
I joined this channel
We should add rate limiting before launch
sorry, I meant Thursday
plan is final: we launch Monday
dark mode is my favorite
It's not Tuesday, it's Wednesday
I might use Redis
we could go with Redis
would you prefer A or B?
what do I prefer?
I told him we decided on X
she said she prefers tea
can you always do that?
did we finish it?
need help
need more info
I use to do that
I used Redis before
I usually agree
I joined late
I moved the file
I moved to the next step
I'm in Berlin for a day
I live for this
we agreed that it's weird
ok let's go
let's use this
let's see
my bad
remember?
I remember
keep going
note taken
I hope to see you next year
I want to break free
""".splitlines()
