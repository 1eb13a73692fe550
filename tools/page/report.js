'use strict';
const data=id=>JSON.parse(document.getElementById(id).textContent);
const report=data('report'),line=data('line'),strips=data('strips'),t=report.trace,main=document.querySelector('main');
function add(parent,tag,text,cls){const e=document.createElement(tag);if(text!==undefined)e.textContent=text;if(cls)e.className=cls;parent.appendChild(e);return e;}
function draw(parent,tag,attributes){const e=document.createElementNS('http://www.w3.org/2000/svg',tag);for(const [k,v] of Object.entries(attributes))e.setAttribute(k,v);parent.appendChild(e);return e;}
function time(ns){const u=['ns','us','ms','s'];let i=0;while(ns>=999.5&&i<3){ns/=1000;i++;}return (i&&ns<99.95?ns.toPrecision(3):Math.round(ns))+' '+u[i];}
const goroutine=g=>g>2**52||g<0?'g?':'g'+g;
const own=f=>!/^(runtime|sync|time|internal|syscall)[./]/.test(f);
function short(f){const i=f.lastIndexOf(' ');return i<0?f.replace(/^[^([]*\//,''):f.slice(0,i).replace(/^[^([]*\//,'')+' '+f.slice(i+1).replace(/.*\//,'');}
function spent(v){return Object.entries(v).sort((a,b)=>b[1]-a[1]).slice(0,5).map(([k,x])=>k+' '+time(x)).join(', ');}
function show(key,v){if(v===null||v===undefined)return '';if(typeof v==='object')return spent(v);return key.endsWith('_ns')&&typeof v==='number'?time(v):String(v);}
function frames(cell,v){if(!v.length)return;const first=v.find(own)||v[0];if(v.length===1){cell.textContent=short(first);return;}const d=add(cell,'details');add(d,'summary',short(first));v.forEach(f=>add(d,'div',short(f)));}
function lasted(v){return v.map(x=>x.goroutine?goroutine(x.goroutine)+' at '+time(x.begin_ns)+': '+time(x.duration_ns):spent(x)).join('\n');}
function fillCell(cell,key,v){if(!Array.isArray(v))cell.textContent=show(key,v);else if(v.length&&typeof v[0]==='object')cell.textContent=lasted(v);else frames(cell,v);}
function legend(parent,pairs){const ul=add(parent,'ul',undefined,'legend');for(const [cls,name] of pairs){const li=add(ul,'li'),s=draw(li,'svg',{viewBox:'0 0 1 1','aria-hidden':'true'});draw(s,'rect',{width:1,height:1,class:cls});li.append(name);}}
add(main,'h1','gotrace report: '+t.name);
for(const l of data('head').split('\n').slice(0,-1))add(main,'p',l);
const uses=[['code','code'],['gc','GC'],['call','system calls'],['search','searching'],['idle','idle']];
function usage(){add(main,'h2','Use of '+(t.of==='threads'?'the CPUs':'the Ps')+' over time');
const n=line.uses.length,total=uses.map(()=>0);line.uses.forEach(u=>u.forEach((v,k)=>total[k]+=v));
const all=total.reduce((a,b)=>a+b,0)||1,said=uses.map(([,name],k)=>name+' '+Math.round(100*total[k]/all)+' %').join(', ');
const svg=draw(main,'svg',{viewBox:'0 0 '+Math.max(n,1)+' 90',preserveAspectRatio:'none',height:90,role:'img','aria-label':'Over '+time(t.duration_ns)+': '+said,class:'frame'});
const base=new Array(n).fill(0);
uses.forEach(([cls],k)=>{let d='';line.uses.forEach((u,i)=>{const sum=u.reduce((a,b)=>a+b,0),h=sum?u[k]/sum*90:0;if(h)d+='M'+i+' '+(90-base[i])+'h1v'+-h+'h-1z';base[i]+=h;});draw(svg,'path',{d,class:cls});});
legend(main,uses.map(([cls,name],k)=>[cls,name+' '+Math.round(100*total[k]/all)+' %']));}
const classes={run:'run','GC assist':'gc',runnable:'ready',syscall:'call',network:'net',disk:'call',lock:'lock',join:'lock',condition:'lock',semaphore:'lock',mmap_lock:'lock',GIL:'lock',pipe:'call','file lock':'lock','child process':'call',stopped:'call','not watched':'gap','GC wait':'gc'};
const stateClass=name=>classes[name]||'wait';
function mostly(lane,s){const sum={};for(const [,n,k] of lane.runs)sum[k]=(sum[k]||0)+n;const ns=(s.to_ns-s.from_ns)/s.columns;return Object.entries(sum).sort((a,b)=>b[1]-a[1]).slice(0,2).map(([k,n])=>strips.states[k]+' '+time(n*ns)).join(', ');}
function strip(parent,s){const span=(s.to_ns-s.from_ns)||1,at=ns=>(ns-s.from_ns)/span*s.columns,framed=s.goroutine&&s.lanes.length&&s.lanes[0].g===s.goroutine&&s.end_ns>s.begin_ns;
const box=add(parent,'div',undefined,'strip');box.setAttribute('role','group');box.setAttribute('aria-label','Time line, '+time(span)+' from '+time(s.from_ns)+' on');
s.lanes.forEach((l,i)=>{const row=add(box,'div',undefined,'lane');add(row,'small',goroutine(l.g)+' '+short(l.name));
const svg=draw(row,'svg',{viewBox:'0 0 '+s.columns+' 16',preserveAspectRatio:'none',role:'img','aria-label':goroutine(l.g)+' '+short(l.name)+': mostly '+(mostly(l,s)||'not there')});
const paths={};for(const [x,n,k] of l.runs){const c=stateClass(strips.states[k]);paths[c]=(paths[c]||'')+(c==='run'?'M'+x+' 1h'+n+'v14h-'+n+'z':'M'+x+' 4h'+n+'v8h-'+n+'z');}
for(const [c,d] of Object.entries(paths))draw(svg,'path',{d,class:c});
if(!i&&framed)draw(svg,'rect',{x:at(s.begin_ns),y:1,width:Math.max(at(s.end_ns)-at(s.begin_ns),1),height:14,class:'here','vector-effect':'non-scaling-stroke'});
let wakes='';for(const [x,from,to] of s.wakes){const low=Math.min(from,to),high=Math.max(from,to);if(i>=low&&i<=high)wakes+='M'+x+(i===low?' 8V16':i===high?' 0V8':' 0V16');}
if(wakes)draw(svg,'path',{d:wakes,class:'wake','vector-effect':'non-scaling-stroke'});});
const foot=add(add(box,'div',undefined,'lane'),'small','');foot.parentNode.append(add(box,'small',time(s.from_ns)+' to '+time(s.to_ns)+(s.wakes.length?'; '+s.wakes.length+' wake-ups (lines) between these':'')+(framed?'; the worst instance is framed':'')+(s.truncated?'; only part of what happened is shown':'')));
const seen=[...new Set(s.lanes.flatMap(l=>l.runs.map(r=>strips.states[r[2]])))],by={};for(const n of seen)(by[stateClass(n)]=by[stateClass(n)]||[]).push(n);
legend(box,Object.entries(by).map(([c,names])=>[c,names.join(', ')]));}
function finding(f,i){const d=add(main,'section',undefined,'f '+f.level),h=add(d,'h3');add(h,'b',f.level.toUpperCase()+' '+f.id+': ');h.append(f.text);
if(f.explained_by)add(d,'small','explained by '+f.explained_by);for(const l of f.evidence.lines)add(d,'small',l);
if(strips.findings[i])strip(d,strips.findings[i]);
for(const k of ['stack','waker_stack'])if(f.evidence[k].length)add(d,'small',(k==='stack'?'stack: ':'ended by: ')+f.evidence[k].slice(0,6).map(short).join(' < '));if(f.next)add(d,'small','> '+f.next);}
const hidden=['file','line','system','cut_n','cut_ns','cut_max_ns','max_at_ns','max_goroutine','max_waker','no_waker','ended_by_n','ended_by_ns','releases_by_waiters'];
const names=['where','function','name','waits'];
function table(name,data){const shown=data.rows.filter(r=>!r.system&&r.n!==0);if(!shown.length)return;
const title=add(main,'h2',name+(data.omitted?' ('+data.omitted+' more)':''));title.id='table-'+name;
for(const r of shown)if(r.file)r.function=short(r.function+' '+r.file+':'+r.line);
const all=[...new Set(shown.flatMap(r=>Object.keys(r)))].filter(k=>!hidden.includes(k)),first=names.find(k=>all.includes(k)),keys=first?[first,...all.filter(k=>k!==first)]:all;
const el=add(main,'table'),head=add(add(el,'thead'),'tr'),rows=add(el,'tbody');el.setAttribute('aria-labelledby',title.id);
for(const [e,role] of [[el,'table'],[el.firstChild,'rowgroup'],[head,'row'],[rows,'rowgroup']])e.setAttribute('role',role);
const isText=k=>shown.some(r=>typeof r[k]==='string'||typeof r[k]==='object'&&r[k]),label=k=>k.replace(/_ns$/,'').replace(/_/g,' ');
const value=v=>Array.isArray(v)?v.map(x=>typeof x==='object'?spent(x):x).join(' '):show('',v);
function fill(){rows.textContent='';for(const r of shown){const tr=add(rows,'tr');tr.setAttribute('role','row');for(const k of keys){const td=add(tr,'td',undefined,(isText(k)?'t':'')+(k===first?' name':''));td.setAttribute('role','cell');fillCell(td,k,r[k]);if(k!==first&&td.childNodes.length)td.dataset.label=label(k);}}}
function sortBy(th,k){const down=th.getAttribute('aria-sort')!=='descending',s=down?-1:1;for(const o of head.children)o.removeAttribute('aria-sort');th.setAttribute('aria-sort',down?'descending':'ascending');
shown.sort((a,b)=>{const x=value(a[k]),y=value(b[k]);return s*(typeof a[k]==='number'&&typeof b[k]==='number'?a[k]-b[k]:x<y?-1:x>y);});fill();}
for(const k of keys){const th=add(head,'th',undefined,isText(k)?'t':'');th.setAttribute('role','columnheader');th.scope='col';const b=add(th,'button',label(k));b.type='button';b.addEventListener('click',()=>sortBy(th,k));}
fill();}
add(main,'h2','Findings');
if(!report.findings.rows.length)add(main,'p','None.');
report.findings.rows.forEach(finding);
usage();
for(const [name,rows] of Object.entries(report.tables))table(name,rows);
