'use strict';
const report=JSON.parse(document.getElementById('report').textContent);
const line=JSON.parse(document.getElementById('line').textContent);
function add(parent,tag,text,cls){const e=document.createElement(tag);if(text!==undefined)e.textContent=text;if(cls)e.className=cls;parent.appendChild(e);return e;}
function time(ns){const u=['ns','us','ms','s'];let i=0;while(ns>=999.5&&i<3){ns/=1000;i++;}return (i&&ns<99.95?ns.toPrecision(3):Math.round(ns))+' '+u[i];}
const own=f=>!/^(runtime|sync|time|internal|syscall)[./]/.test(f);
function short(f){const i=f.lastIndexOf(' ');return f.slice(0,i).replace(/^[^([]*\//,'')+' '+f.slice(i+1).replace(/.*\//,'');}
function spent(v){return Object.entries(v).sort((a,b)=>b[1]-a[1]).slice(0,5).map(([k,x])=>k+' '+time(x)).join(', ');}
function show(key,v){if(v===null||v===undefined)return '';if(typeof v==='object')return spent(v);return key.endsWith('_ns')&&typeof v==='number'?time(v):String(v);}
function frames(cell,v){if(!v.length)return;const first=v.find(own)||v[0];if(v.length===1){cell.textContent=short(first);return;}const d=add(cell,'details');add(d,'summary',short(first));v.forEach(f=>add(d,'div',short(f)));}
function lasted(v){return v.map(x=>x.goroutine?'g'+x.goroutine+' at '+time(x.begin_ns)+': '+time(x.duration_ns):spent(x)).join('\n');}
function fillCell(cell,key,v){if(!Array.isArray(v))cell.textContent=show(key,v);else if(v.length&&typeof v[0]==='object')cell.textContent=lasted(v);else frames(cell,v);}
const hidden=['file','line','system','cut_n','cut_ns','cut_max_ns','max_at_ns','max_goroutine','max_waker','no_waker','ended_by_n','ended_by_ns','releases_by_waiters'];
const body=document.body,t=report.trace;
add(body,'h1','gotrace report: '+t.name);
add(body,'p',time(t.duration_ns)+(t.not_watched_ns?', '+time(t.not_watched_ns)+' not watched':', all watched')+'; '+t.procs+' Ps; '+t.events+' events; '+t.of+' '+t.alive_at_start+' to '+t.alive_at_end+', '+t.created+' created; latency p50 '+time(report.latency.p50_ns)+', p99 '+time(report.latency.p99_ns)+', max '+time(report.latency.max_ns)+'; '+report.gc.cycles+' GC cycles');
add(body,'h2','Use of the Ps over time');
const canvas=add(body,'canvas');canvas.width=1200;canvas.height=90;
const pen=canvas.getContext('2d'),colors=['#3a7','#c62','#57c','#bb8','#ddd'],n=line.uses.length,w=canvas.width/Math.max(n,1);
const legend=add(body,'p');['code','GC','system calls','searching','idle'].forEach((k,i)=>{add(legend,'span','\u25a0 ').style.color=colors[i];legend.append(k+'  ');});
line.uses.forEach((u,i)=>{const all=u.reduce((a,b)=>a+b,0);let y=90;u.forEach((v,k)=>{const h=all?v/all*90:0;pen.fillStyle=colors[k];pen.fillRect(i*w,y-h,w+1,h);y-=h;});});
add(body,'h2','Findings');
if(!report.findings.rows.length)add(body,'p','None.');
for(const f of report.findings.rows){const d=add(body,'div',undefined,'f '+f.level);add(d,'b',f.level.toUpperCase()+' '+f.id+': ');add(d,'span',f.text);if(f.explained_by)add(d,'small','explained by '+f.explained_by);for(const l of f.evidence.lines)add(d,'small',l);for(const k of ['stack','waker_stack'])if(f.evidence[k].length)add(d,'code',(k==='stack'?'stack: ':'ended by: ')+f.evidence[k].slice(0,6).map(short).join(' < '));add(d,'code',f.next);}
for(const [name,table] of Object.entries(report.tables)){const shown=table.rows.filter(r=>!r.system&&r.n!==0);if(!shown.length)continue;add(body,'h2',name+(table.omitted?' ('+table.omitted+' more)':''));
for(const r of shown)if(r.file)r.function=short(r.function+' '+r.file+':'+r.line);
const keys=[...new Set(shown.flatMap(r=>Object.keys(r)))].filter(k=>!hidden.includes(k)),el=add(body,'table'),head=add(add(el,'thead'),'tr'),rows=add(el,'tbody');
const text=k=>shown.some(r=>typeof r[k]==='string'||typeof r[k]==='object'&&r[k]);let down=true;
const value=v=>Array.isArray(v)?v.map(x=>typeof x==='object'?spent(x):x).join(' '):show('',v);
function fill(){rows.textContent='';for(const r of shown){const tr=add(rows,'tr');for(const k of keys)fillCell(add(tr,'td',undefined,text(k)?'t':''),k,r[k]);}}
for(const k of keys)add(head,'th',k.replace(/_ns$/,'').replace(/_/g,' '),text(k)?'t':'').addEventListener('click',()=>{down=!down;const s=down?-1:1;shown.sort((a,b)=>{const x=value(a[k]),y=value(b[k]);return s*(typeof a[k]==='number'&&typeof b[k]==='number'?a[k]-b[k]:x<y?-1:x>y);});fill();});
fill();}
